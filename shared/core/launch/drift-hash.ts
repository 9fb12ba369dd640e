import { canonicalText } from './canonical-text.ts';
import { sha256 } from './sha256.ts';

/** What users name themselves: an entry counts with any value, an empty one too. */
const MAPS: ReadonlySet<string> = new Set(['labels', 'annotations', 'tags', 'kubelet']);

/** Fields whose `false` or 0 is not what their absence means. */
const TELLING: ReadonlySet<string> = new Set([
  'associatePublicIPAddress',
  'deleteOnTermination',
  'encrypted',
  'terminationGracePeriodMs',
]);

const LENGTH = 16;

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function isZero(value: unknown): boolean {
  return isEmpty(value) || value === false || value === 0 || value === '';
}

/** Without what says nothing, and lists in one order. */
function reduced(value: unknown, isMap: boolean): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => reduced(item, isMap));
    return items.sort((a, b) => (canonicalText(a) < canonicalText(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, field]: [string, unknown]) => {
    const isInMap = isMap || MAPS.has(key);
    return { key, field: reduced(field, isInMap), isTelling: isInMap || TELLING.has(key) };
  });
  const kept = fields.filter(({ field, isTelling }) =>
    isTelling ? !isEmpty(field) : !isZero(field),
  );
  return Object.fromEntries(kept.map(({ key, field }) => [key, field]));
}

/** As Karpenter's: the order of lists, and fields that are empty instead of absent, change nothing. */
export function driftHash(value: unknown): string {
  return sha256(canonicalText(reduced(value, false))).slice(0, LENGTH);
}
