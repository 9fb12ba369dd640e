/**
 * Status codes of a spot request whose instance EC2 takes back, or has: `marked-for-termination`,
 * `instance-stopped-no-capacity`, those of fault injection experiments, and so on.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-request-status.html
 */
const TAKEN_BACK = /^(marked-for|instance-terminated|instance-stopped)-/;

/** Whether the code says what a spot warning says; one that does not yet may be late. */
export function confirmsWarning(statusCode: string): boolean {
  return TAKEN_BACK.test(statusCode);
}
