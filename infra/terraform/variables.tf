variable "name" {
  description = "What the names of functions, roles and alarms begin with. Roles belong to all regions of an account, so each region and each environment needs a name of its own."
  type        = string
  default     = "talkback"

  validation {
    condition     = can(regex("^[a-zA-Z0-9-]{1,40}$", var.name))
    error_message = "The name has 1 to 40 letters, digits and hyphens, such as talkback."
  }
}

variable "table_name" {
  description = "The name of the table. Another name is another, empty table: Terraform then deletes the old one, which deletion_protection refuses."
  type        = string
  default     = "comments"

  validation {
    condition     = can(regex("^[a-zA-Z0-9_.-]{3,255}$", var.table_name))
    error_message = "The name of a table has 3 to 255 letters, digits, underscores, hyphens and dots, such as comments."
  }
}

variable "deletion_protection" {
  description = "Whether DynamoDB refuses to delete the table. Apply false before you destroy it."
  type        = bool
  default     = true
}

variable "point_in_time_recovery" {
  description = "Whether the table can be restored as it was at any second of the last 35 days. It costs by the size of the table."
  type        = bool
  default     = true
}

variable "package" {
  description = "The path of talkback-lambda.zip, which `make lambda` builds. Without it, there are no functions: run talkback serve yourself."
  type        = string
  default     = null
}

variable "count_by_function" {
  description = "Whether a function counts comments. If servers or `talkback stream` count, it need not."
  type        = bool
  default     = true
}

variable "api_by_function" {
  description = "Whether a function answers the API and shows product pages. If servers do, it need not."
  type        = bool
  default     = true
}

variable "api_environment" {
  description = "Settings of the API as talkback serve reads them, such as { TALKBACK_JWKS_URL = \"https://login.example.com/jwks.json\" }. The counting function gets TALKBACK_PAGES and those of OpenTelemetry. They are stored in the state of Terraform."
  type        = map(string)
  default     = {}
  sensitive   = true

  validation {
    condition     = alltrue([for name in keys(var.api_environment) : can(regex("^(TALKBACK|OTEL)_", name)) && !contains(["TALKBACK_TABLE", "TALKBACK_FUNCTION", "OTEL_EXPORTER_OTLP_ENDPOINT"], name)])
    error_message = "Settings of the API have names that begin with TALKBACK_ or OTEL_. The table is table_name, the endpoint is otlp_endpoint, and the module sets TALKBACK_FUNCTION."
  }
}

variable "api_memory" {
  description = "The memory of the API's function in MB. Processor time grows with it."
  type        = number
  default     = 1024
}

variable "api_rate" {
  description = "Requests a second that the API takes over all clients; further ones get 429. It bounds the bill."
  type        = number
  default     = 200

  validation {
    condition     = var.api_rate >= 1 && floor(var.api_rate) == var.api_rate
    error_message = "The rate is a whole number of requests a second, 1 at least, such as 200."
  }
}

variable "otlp_endpoint" {
  description = "Where functions send traces and metrics by OTLP over HTTP at the end of each invocation, such as http://localhost:4318 of a collector in a layer. Without it, they send none."
  type        = string
  default     = ""
}

variable "collector_layer" {
  description = "The ARN of a layer with a collector of OpenTelemetry, if otlp_endpoint is one."
  type        = string
  default     = null
}

variable "alarms" {
  description = "Whether CloudWatch has alarms of the table and the functions."
  type        = bool
  default     = true
}

variable "alarm_topic" {
  description = "The ARN of an SNS topic that is notified when an alarm goes off and when it is over. Without it, or without subscribers to the topic, alarms show in CloudWatch only."
  type        = string
  default     = null

  validation {
    condition     = var.alarm_topic == null ? true : can(regex("^arn:[^:]+:sns:.+$", var.alarm_topic))
    error_message = "The topic is an ARN of SNS, such as arn:aws:sns:eu-central-1:123456789012:alarms."
  }
}

variable "log_days" {
  description = "How many days logs of functions are kept."
  type        = number
  default     = 30
}

variable "tags" {
  description = "Tags of everything that can have some."
  type        = map(string)
  default     = {}
}
