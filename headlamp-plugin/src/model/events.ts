import { Reader } from '../../../shared/api/read.ts';
import { REASONS } from '../../../shared/core/explain/definitions.ts';
import { type Reason, sentence } from '../../../shared/core/explain/reason.ts';
import { DECISION, ownValue, REASON_CODE } from '../../../shared/core/model/labels.ts';
import type { Target } from './target.ts';

/** A reason in words, with what a person can do. */
export interface Why {
  readonly text: string;
  /** Empty where the code is of another version. */
  readonly meaning: string;
  readonly remedy: string;
}

/** What one of Joiner's functions wrote about an object. */
export interface JoinerEvent {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  /** The reason of the Event, such as `Unconsolidatable`. */
  readonly reason: string;
  readonly count: number;
  /** Milliseconds since the epoch; 0 where it is not known. */
  readonly atMs: number;
  readonly why: Why;
  /** The id of the decision record; undefined: it is about none. */
  readonly decision: string | undefined;
}

/** Names of the functions begin with it. */
const WRITER = 'joiner-';

/** What the code of a reason means, for people. */
export function explained(code: string | undefined, text: string): Why {
  const known = code === undefined ? undefined : ownValue(REASONS, code);
  return { text, meaning: known?.meaning ?? '', remedy: known?.remedy ?? '' };
}

/** The reason as {@link sentence} puts it, with its meaning. */
export function explainedReason(reason: Reason): Why {
  return explained(reason.code, sentence(reason));
}

function readEvent(object: unknown): JoinerEvent | undefined {
  const read = new Reader();
  const event = read.fields(object, '');
  const source = read.fields(event['source'], '');
  const writer = read.text(event['reportingComponent'], '') || read.text(source['component'], '');
  if (writer?.startsWith(WRITER) !== true) return undefined;
  const regarding = read.fields(event['involvedObject'], '');
  const metadata = read.fields(event['metadata'], '');
  const annotations = read.labels(metadata['annotations'], '');
  return {
    kind: read.text(regarding['kind'], '') ?? '',
    namespace: read.text(regarding['namespace'], '') ?? '',
    name: read.text(regarding['name'], '') ?? '',
    type: read.text(event['type'], '') ?? '',
    reason: read.text(event['reason'], '') ?? '',
    count: read.integer(event['count'], '') ?? 1,
    atMs: read.time(event['lastTimestamp'], '') ?? read.time(event['firstTimestamp'], '') ?? 0,
    why: explained(annotations[REASON_CODE], read.text(event['message'], '') ?? ''),
    decision: annotations[DECISION],
  };
}

/** Which of two events is listed first: the newer, then by what it is about and says. */
function byTime(a: JoinerEvent, b: JoinerEvent): number {
  if (a.atMs !== b.atMs) return b.atMs - a.atMs;
  const [one, other] = [a, b].map(({ kind, namespace, name, reason, why }) =>
    [kind, namespace, name, reason, why.text].join('\n'),
  );
  return (one ?? '') < (other ?? '') ? -1 : 1;
}

/** Events that Joiner wrote, the newest first; those of other components are left out. */
export function joinerEvents(objects: readonly unknown[]): readonly JoinerEvent[] {
  return objects.flatMap((each) => readEvent(each) ?? []).sort(byTime);
}

/** Those about the object. */
export function eventsOf(
  events: readonly JoinerEvent[],
  kind: string,
  name: string | undefined,
): readonly JoinerEvent[] {
  return events.filter((each) => each.kind === kind && each.name === name);
}

const PAGES: ReadonlyMap<string, Target['kind']> = new Map([
  ['Node', 'Node'],
  ['NodeClaim', 'NodeClaim'],
  ['NodePool', 'NodePool'],
  ['Pod', 'Pod'],
]);

/** The page of what the event is about; undefined: Headlamp has none. */
export function targetOf({ kind, namespace, name }: JoinerEvent): Target | undefined {
  const page = PAGES.get(kind);
  return page === undefined ? undefined : { kind: page, name, namespace };
}
