/**
 * EventBridge's patterns, as far as ours go: lists of values, `prefix`, `anything-but` and `exists`.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
 */
export function matchesPattern(pattern: unknown, event: unknown): boolean {
  if (!isObject(pattern)) throw new Error('a pattern is an object');
  return Object.entries(pattern).every(([name, wanted]) => {
    const value = isObject(event) ? event[name] : undefined;
    if (!Array.isArray(wanted)) return isObject(value) && matchesPattern(wanted, value);
    // Of a list in the event one value has to match.
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return wanted.some((each) => values.some((one) => matches(each, one)));
  });
}

function matches(wanted: unknown, value: unknown): boolean {
  if (!isObject(wanted)) return wanted === value;
  const [entry, ...others] = Object.entries(wanted);
  if (entry === undefined || others.length > 0) throw new Error('one operator at a time');
  const [operator, operand] = entry;
  if (operator === 'prefix') return typeof value === 'string' && value.startsWith(String(operand));
  if (operator === 'exists') return (value !== undefined) === operand;
  if (operator === 'anything-but') {
    const not: readonly unknown[] = Array.isArray(operand) ? operand : [operand];
    return value !== undefined && !not.includes(value);
  }
  throw new Error(`the operator ${operator} is not known`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A filter of CloudWatch Logs for JSON, as far as ours go: equalities that all hold.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
export function matchesFilter(filter: string, line: unknown): boolean {
  const [, terms] = /^\{ (.+) \}$/.exec(filter.trim()) ?? [];
  if (terms === undefined) throw new Error(`not a filter of JSON: ${filter}`);
  return terms.split(' && ').every((term) => {
    const [, name, value] = /^\$\.(\w+) = "([^"]*)"$/.exec(term) ?? [];
    if (name === undefined) throw new Error(`not an equality: ${term}`);
    return isObject(line) && line[name] === value;
  });
}
