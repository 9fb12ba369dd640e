# The outputs of the stack, by the names of Terraform.

output "node_role_arn" {
  description = "Its name goes into spec.role of EC2NodeClasses."
  value       = aws_cloudformation_stack.joiner.outputs["NodeRoleArn"]
}

output "bucket_name" {
  description = "Decision records, snapshots and what the functions remember."
  value       = aws_cloudformation_stack.joiner.outputs["BucketName"]
}

output "interruption_queue_url" {
  description = "Where notices of interruptions arrive."
  value       = aws_cloudformation_stack.joiner.outputs["InterruptionQueueUrl"]
}

output "dashboard_name" {
  description = "The dashboard in CloudWatch."
  value       = aws_cloudformation_stack.joiner.outputs["DashboardName"]
}

output "function_names" {
  description = "The names of the functions."
  value       = split(",", aws_cloudformation_stack.joiner.outputs["FunctionNames"])
}
