# Joiner for one EKS cluster, from a template that `joiner template` has written for it.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

locals {
  # Names of stacks have no underscore, those of clusters may: a checksum keeps a_b and a-b apart.
  hyphened = replace(var.cluster_name, "_", "-")
  checksum = substr(sha256(var.cluster_name), 0, 8)
  suffix   = local.hyphened == var.cluster_name ? "" : "-${local.checksum}"
}

resource "aws_cloudformation_stack" "joiner" {
  name         = "joiner-${local.hyphened}${local.suffix}"
  template_url = var.template_url
  capabilities = ["CAPABILITY_NAMED_IAM"]
  iam_role_arn = var.deployment_role_arn
  tags         = var.tags

  # A failed first deployment leaves nothing behind; a failed update goes back to what was there.
  on_failure = "DELETE"

  timeouts {
    create = "30m"
    update = "30m"
    delete = "30m"
  }

  lifecycle {
    precondition {
      condition     = startswith(var.template_url, "https://")
      error_message = "template_url has to be the https address of template.json in an S3 bucket of the stack's region."
    }
  }
}
