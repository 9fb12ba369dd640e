variable "cluster_name" {
  description = "Name of the EKS cluster that the template was written for."
  type        = string
}

variable "template_url" {
  description = "Address of template.json in S3, e.g. https://BUCKET.s3.REGION.amazonaws.com/joiner/0.1.0/template.json. A new address deploys a new version."
  type        = string
}

variable "deployment_role_arn" {
  description = "Role that CloudFormation deploys with. By default the caller's rights are used."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of the stack and of what it creates."
  type        = map(string)
  default     = {}
}
