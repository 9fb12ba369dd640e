/** JSON for programs: a field that has no value is null, so that none ever vanishes. */
export function jsonText(value: object): string {
  return `${JSON.stringify(value, (_, each) => (each === undefined ? null : each), 1)}\n`;
}
