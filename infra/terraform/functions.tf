# What both functions share: the code, logs and roles. TALKBACK_FUNCTION tells the program which
# function it is.

locals {
  functions = var.package == null ? {} : {
    for function, wanted in { count = var.count_by_function, api = var.api_by_function } : function => {
      name                          = "${var.name}-${function}"
    } if wanted
  }
  counts  = contains(keys(local.functions), "count")
  answers = contains(keys(local.functions), "api")
}

resource "aws_cloudwatch_log_group" "function" {
  for_each = local.functions

  name              = "/aws/lambda/${each.value.name}"
  retention_in_days = var.log_days
  tags              = var.tags
}

resource "aws_iam_role" "function" {
  for_each = local.functions

  name = each.value.name
  tags = var.tags
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
}

resource "aws_iam_role_policy" "logs" {
  for_each = local.functions

  name = "logs"
  role = aws_iam_role.function[each.key].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
      Resource = "${aws_cloudwatch_log_group.function[each.key].arn}:*"
    }]
  })
}
