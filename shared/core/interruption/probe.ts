import { parsedJson } from '../parsed-json.ts';
import type { Envelope } from './interruption.ts';

/** What a probe of this cluster looks like. */
export interface ExpectedProbe extends Envelope {
  readonly source: string;
  readonly detailType: string;
  readonly cluster: string;
}

/** The mark; others are not answered. */
const MARK = /^[0-9a-f]{16}$/;

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** The mark of a message that is a probe of this cluster; undefined: it is none. */
export function probeOf(body: string, expected: ExpectedProbe): string | undefined {
  const { accountId, region, cluster, source, detailType } = expected;
  if (!body.includes(source)) return undefined;
  const event = parsedJson(body);
  const isSent =
    property(event, 'source') === source &&
    property(event, 'detail-type') === detailType &&
    property(event, 'account') === accountId &&
    property(event, 'region') === region;
  const detail = property(event, 'detail');
  const mark = property(detail, 'mark');
  if (!isSent || property(detail, 'cluster') !== cluster) return undefined;
  return typeof mark === 'string' && MARK.test(mark) ? mark : undefined;
}
