# The table, as layout.Definition has it. `make generate` writes this file.

locals {
  indexes = ["byLangAndRating", "byLang", "byRating", "all", "boards", "byAuthor", "byHelpful", "byMedia"]
}

resource "aws_dynamodb_table" "comments" {
  name                        = var.table_name
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = var.deletion_protection
  tags                        = var.tags

  point_in_time_recovery {
    enabled = var.point_in_time_recovery
  }

  ttl {
    attribute_name = "expires"
    enabled        = true
  }

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "B"
    type = "S"
  }

  attribute {
    name = "L"
    type = "S"
  }

  attribute {
    name = "R"
    type = "S"
  }

  attribute {
    name = "A"
    type = "S"
  }

  attribute {
    name = "board"
    type = "S"
  }

  attribute {
    name = "place"
    type = "S"
  }

  attribute {
    name = "U"
    type = "S"
  }

  attribute {
    name = "H"
    type = "S"
  }

  attribute {
    name = "M"
    type = "S"
  }

  global_secondary_index {
    name            = "byLangAndRating"
    hash_key        = "B"
    range_key       = "PK"
    projection_type = "INCLUDE"

    non_key_attributes = ["l", "r", "h", "t", "U", "a", "n", "v", "u", "o", "k", "y", "i", "q", "d", "x"]
  }

  global_secondary_index {
    name            = "byLang"
    hash_key        = "L"
    range_key       = "PK"
    projection_type = "INCLUDE"

    non_key_attributes = ["l", "r", "h", "t", "U", "a", "n", "v", "u", "o", "k", "y", "i", "q", "d", "x"]
  }

  global_secondary_index {
    name            = "byRating"
    hash_key        = "R"
    range_key       = "PK"
    projection_type = "INCLUDE"

    non_key_attributes = ["l", "r", "h", "t", "U", "a", "n", "v", "u", "o", "k", "y", "i", "q", "d", "x"]
  }

  global_secondary_index {
    name            = "all"
    hash_key        = "A"
    range_key       = "PK"
    projection_type = "INCLUDE"

    non_key_attributes = ["l", "r", "h", "t", "U", "a", "n", "v", "u", "o", "k", "y", "i", "q", "d", "x"]
  }

  global_secondary_index {
    name            = "boards"
    hash_key        = "board"
    range_key       = "place"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name            = "byAuthor"
    hash_key        = "U"
    range_key       = "PK"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name            = "byHelpful"
    hash_key        = "A"
    range_key       = "H"
    projection_type = "INCLUDE"

    non_key_attributes = ["l", "r", "h", "t", "U", "a", "n", "v", "u", "o", "k", "y", "i", "q", "d", "x"]
  }

  global_secondary_index {
    name            = "byMedia"
    hash_key        = "A"
    range_key       = "M"
    projection_type = "INCLUDE"

    non_key_attributes = ["l", "r", "h", "t", "U", "a", "n", "v", "u", "o", "k", "y", "i", "q", "d", "x"]
  }
}
