import { parsedJson } from '../parsed-json.ts';

/** Karpenter's names of interruption kinds: metric values and log fields. */
export type InterruptionKind =
  | 'spot_interrupted'
  | 'rebalance_recommendation'
  | 'instance_stopped'
  | 'instance_terminated'
  | 'scheduled_change'
  | 'capacity_reservation_interrupted'
  | 'no_op';

export interface Interruption {
  readonly kind: InterruptionKind;
  /** `i-…`, sorted, each once. */
  readonly instanceIds: readonly string[];
  /** For `capacity_reservation_interrupted`. */
  readonly reservationId: string | undefined;
  /** For spot: `terminate`, `stop` or `hibernate`. */
  readonly instanceAction: string | undefined;
  readonly sentAtMs: number;
}

/** Why a message is not believed; the value is a metric dimension. */
export type Refusal = 'malformed' | 'foreign_account' | 'foreign_region' | 'too_large' | 'stale';

export type ParsedMessage =
  | { readonly ok: true; readonly interruption: Interruption }
  | { readonly ok: false; readonly refusal: Refusal };

/** Who may speak: the envelope has to match before anything in it is looked at. */
export interface Envelope {
  readonly accountId: string;
  readonly region: string;
}

/** EventBridge's own limit on an event; anything larger did not come from it. */
const BYTES_MAX = 262_144;
/** No notice is longer ahead or late than this; older messages describe another instance's life. */
const AGE_MS_MAX = 24 * 3_600_000;
const IDS_MAX = 1000;

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fields are looked at by their type only: turning an object into a text can throw. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const INSTANCE_ID = /^i-[0-9a-f]{8,17}$/;

/** Instance ids in order; undefined when one of them is not an id. */
function instanceIds(values: readonly unknown[]): readonly string[] | undefined {
  const ids = new Set<string>();
  for (const value of values.slice(0, IDS_MAX)) {
    const id = textOf(value);
    if (id === undefined || !INSTANCE_ID.test(id)) return undefined;
    ids.add(id);
  }
  return [...ids].sort();
}

type Detail = Pick<Interruption, 'kind' | 'instanceIds' | 'reservationId' | 'instanceAction'>;

const NO_OP: Detail = {
  kind: 'no_op',
  instanceIds: [],
  reservationId: undefined,
  instanceAction: undefined,
};

function about(kind: InterruptionKind, ids: readonly unknown[]): Detail | undefined {
  const known = instanceIds(ids);
  return known === undefined ? undefined : { ...NO_OP, kind, instanceIds: known };
}

function spotWarning(detail: Json): Detail | undefined {
  const found = about('spot_interrupted', [detail['instance-id']]);
  return found && { ...found, instanceAction: textOf(detail['instance-action']) };
}

function rebalance(detail: Json): Detail | undefined {
  return about('rebalance_recommendation', [detail['instance-id']]);
}

function stateChange(detail: Json): Detail | undefined {
  const id = detail['instance-id'];
  switch (detail['state']) {
    case 'stopping':
    case 'stopped':
      return about('instance_stopped', [id]);
    case 'shutting-down':
    case 'terminated':
      return about('instance_terminated', [id]);
    case 'pending':
    case 'running':
      return NO_OP;
    default:
      return undefined;
  }
}

function healthEvent(detail: Json): Detail | undefined {
  if (detail['service'] !== 'EC2' || detail['eventTypeCategory'] !== 'scheduledChange')
    return NO_OP;
  // AWS tells of the end of an event as well: it was called off, or is over. The node stays.
  if (detail['statusCode'] === 'closed') return NO_OP;
  const { affectedEntities: entities, eventScopeCode } = detail;
  // A public event is about a region or a service, and mostly about no resource of the account.
  if (entities === undefined && eventScopeCode === 'PUBLIC') return NO_OP;
  if (!Array.isArray(entities)) return undefined;
  // Of an event about several instances each is over by itself; AWS tells of all with each change.
  const open = entities.filter((each: unknown) => !isObject(each) || each['status'] !== 'RESOLVED');
  const values = open.map((each: unknown) =>
    isObject(each) ? textOf(each['entityValue']) : undefined,
  );
  // Of EC2 are dedicated hosts and others as well: no node is one.
  const ofNodes = values.filter((each) => each === undefined || INSTANCE_ID.test(each));
  return about('scheduled_change', ofNodes);
}

function reservationWarning(detail: Json): Detail | undefined {
  const found = about('capacity_reservation_interrupted', [detail['instance-id']]);
  return found && { ...found, reservationId: textOf(detail['capacity-reservation-id']) };
}

/** By `source` and `detail-type` of the event. */
const KINDS: Readonly<Record<string, (detail: Json) => Detail | undefined>> = {
  'aws.ec2/EC2 Spot Instance Interruption Warning': spotWarning,
  'aws.ec2/EC2 Instance Rebalance Recommendation': rebalance,
  'aws.ec2/EC2 Instance State-change Notification': stateChange,
  'aws.ec2/EC2 Capacity Reservation Instance Interruption Warning': reservationWarning,
  'aws.health/AWS Health Event': healthEvent,
};

/** What is decoded: `source/detail-type` of each event. EventBridge has a rule for each. */
export const INTERRUPTION_EVENTS: readonly string[] = Object.keys(KINDS);

/**
 * Decodes one message of the interruption queue; nothing in it is believed beyond its envelope.
 * Never throws: a message comes with nine others, for which it must not decide anything.
 */
export function parseInterruption(body: string, expected: Envelope, nowMs: number): ParsedMessage {
  if (body.length > BYTES_MAX) return { ok: false, refusal: 'too_large' };
  const event = parsedJson(body);
  if (!isObject(event) || !isObject(event['detail'])) return { ok: false, refusal: 'malformed' };
  if (event['account'] !== expected.accountId) return { ok: false, refusal: 'foreign_account' };
  if (event['region'] !== expected.region) return { ok: false, refusal: 'foreign_region' };
  const sentAtMs = Date.parse(textOf(event['time']) ?? '');
  if (Number.isNaN(sentAtMs)) return { ok: false, refusal: 'malformed' };
  if (Math.abs(nowMs - sentAtMs) > AGE_MS_MAX) return { ok: false, refusal: 'stale' };
  const [source, type] = [textOf(event['source']), textOf(event['detail-type'])];
  if (source === undefined || type === undefined) return { ok: false, refusal: 'malformed' };
  const decode = KINDS[`${source}/${type}`];
  const detail = decode === undefined ? NO_OP : decode(event['detail']);
  if (detail === undefined) return { ok: false, refusal: 'malformed' };
  return { ok: true, interruption: { ...detail, sentAtMs } };
}
