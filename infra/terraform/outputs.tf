# The outputs of the stack, by the names of Terraform. Null: the template has no such part, as one
# with shadow or without a dashboard.

output "node_role_arn" {
  description = "Its name goes into spec.role of EC2NodeClasses."
  value       = lookup(aws_cloudformation_stack.joiner.outputs, "NodeRoleArn", null)
}

output "bucket_name" {
  description = "Decision records, snapshots and what the functions remember."
  value       = aws_cloudformation_stack.joiner.outputs["BucketName"]
}

output "interruption_queue_url" {
  description = "Where notices of interruptions arrive."
  value       = lookup(aws_cloudformation_stack.joiner.outputs, "InterruptionQueueUrl", null)
}

output "dashboard_name" {
  description = "The dashboard in CloudWatch."
  value       = lookup(aws_cloudformation_stack.joiner.outputs, "DashboardName", null)
}

output "function_names" {
  description = "The names of the functions."
  value       = split(",", aws_cloudformation_stack.joiner.outputs["FunctionNames"])
}
