# The function that answers the API and shows product pages. An HTTP API in front of it bounds how
# many requests it takes. A function's own address would need a permission for calls through that
# address alone, lambda:InvokedViaFunctionUrl, which provider releases before 6.29 cannot grant.

resource "aws_iam_role_policy" "api" {
  count = local.answers ? 1 : 0

  name = "api"
  role = aws_iam_role.function["api"].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Action = [
          "dynamodb:BatchGetItem",
          "dynamodb:DeleteItem",
          "dynamodb:DescribeTable",
          "dynamodb:GetItem",
          "dynamodb:PutItem",
          "dynamodb:UpdateItem",
        ]
        Resource = aws_dynamodb_table.comments.arn
      },
      {
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = [aws_dynamodb_table.comments.arn, "${aws_dynamodb_table.comments.arn}/index/*"]
      },
    ]
  })
}

resource "aws_lambda_function" "api" {
  count = local.answers ? 1 : 0

  function_name    = local.functions["api"].name
  description      = "Answers the API of Talkback and shows product pages."
  role             = aws_iam_role.function["api"].arn
  runtime          = "provided.al2023"
  architectures    = ["arm64"]
  handler          = "bootstrap"
  filename         = var.package
  source_code_hash = filebase64sha256(var.package)
  timeout          = 29
  memory_size      = var.api_memory
  layers           = var.collector_layer == null ? [] : [var.collector_layer]
  tags             = var.tags

  environment {
    variables = merge(var.api_environment, {
      TALKBACK_FUNCTION           = "api"
      TALKBACK_TABLE              = aws_dynamodb_table.comments.name
      OTEL_EXPORTER_OTLP_ENDPOINT = var.otlp_endpoint
    })
  }

  depends_on = [aws_iam_role_policy.logs, aws_iam_role_policy.api]
}

resource "aws_apigatewayv2_api" "api" {
  count = local.answers ? 1 : 0

  name          = "${var.name}-api"
  protocol_type = "HTTP"
  tags          = var.tags
}

resource "aws_apigatewayv2_integration" "api" {
  count = local.answers ? 1 : 0

  api_id                 = aws_apigatewayv2_api.api[0].id
  integration_type       = "AWS_PROXY"
  integration_uri        = aws_lambda_function.api[0].invoke_arn
  payload_format_version = "2.0"
}

resource "aws_apigatewayv2_route" "api" {
  count = local.answers ? 1 : 0

  api_id    = aws_apigatewayv2_api.api[0].id
  route_key = "$default"
  target    = "integrations/${aws_apigatewayv2_integration.api[0].id}"
}

resource "aws_apigatewayv2_stage" "api" {
  count = local.answers ? 1 : 0

  api_id      = aws_apigatewayv2_api.api[0].id
  name        = "$default"
  auto_deploy = true
  tags        = var.tags

  default_route_settings {
    throttling_rate_limit  = var.api_rate
    throttling_burst_limit = 2 * var.api_rate
  }
}

resource "aws_lambda_permission" "api" {
  count = local.answers ? 1 : 0

  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.api[0].function_name
  principal     = "apigateway.amazonaws.com"
  source_arn    = "${aws_apigatewayv2_api.api[0].execution_arn}/*/*"
}
