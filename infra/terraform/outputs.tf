output "table_name" {
  description = "The name of the table, for TALKBACK_TABLE of servers and commands."
  value       = aws_dynamodb_table.comments.name
}

output "table_arn" {
  description = "The ARN of the table, for the roles of servers."
  value       = aws_dynamodb_table.comments.arn
}

output "stream_arn" {
  description = "The ARN of the table's stream."
  value       = aws_dynamodb_table.comments.stream_arn
}

output "url" {
  description = "The address of the API and of product pages, null without a function for them."
  value       = local.answers ? aws_apigatewayv2_api.api[0].api_endpoint : null
}

output "api_id" {
  description = "The id of the HTTP API, for an aws_apigatewayv2_api_mapping of a domain of yours. Its stage is $default."
  value       = local.answers ? aws_apigatewayv2_api.api[0].id : null
}

output "failures_url" {
  description = "The queue that says which records of the stream were given up, null without a function that counts."
  value       = local.counts ? aws_sqs_queue.failures[0].url : null
}
