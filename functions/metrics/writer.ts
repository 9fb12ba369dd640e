import { type Measurement, QUEUE_DEPTH } from '../../shared/contract/prometheus.ts';
import type { ClusterView } from '../../shared/ports/metrics.ts';
import { clusterLevels } from '../../shared/prometheus/cluster-levels.ts';
import { measuredLines } from '../../shared/prometheus/log-lines.ts';
import { podDurations, startingPods } from '../../shared/prometheus/pod-levels.ts';
import { type SenderParts, type Sent, sendSeries } from '../../shared/prometheus/sender.ts';
import { type Series, type SeriesLabels, seriesKey } from '../../shared/prometheus/series.ts';
import {
  afterWriting,
  current,
  NO_TOTALS,
  seriesOf,
  type Totals,
  withLines,
  withMeasurements,
} from '../../shared/prometheus/totals.ts';
import { STALE, type WrittenSeries } from '../../shared/prometheus/write-request.ts';
import { changeTotals, type TotalsStore } from './totals-store.ts';

export interface WriterParts {
  readonly cluster: string;
  readonly version: string;
  readonly perPod: boolean;
  readonly store: TotalsStore;
  readonly sender: SenderParts;
  /** Rejects where the cluster does not answer. */
  readonly view: () => Promise<ClusterView>;
  /** Messages that wait for `interrupt`; rejects where SQS does not answer. */
  readonly queueDepth: () => Promise<number>;
  readonly functionOf: (logGroup: string) => string | undefined;
  readonly nowMs: () => number;
}

export interface Written extends Sent {
  readonly series: number;
  readonly ended: number;
  /** Why there are no gauges of the cluster or of the queue, one for each that was not read. */
  readonly unread: readonly string[];
}

/** What is there now; undefined: it could not be read. */
interface Looked {
  readonly view: ClusterView | undefined;
  readonly queueDepth: number | undefined;
}

/**
 * Counts what the functions' logs say, and once a minute writes all that was counted and what the
 * cluster is like. One writer for all series: what the functions and their sandboxes count is one
 * counter, whose samples have the time of the writing.
 */
export class RemoteWriter {
  readonly #parts: WriterParts;
  /** Of the last writing: what is gone by the next one is ended. */
  #last: ReadonlyMap<string, Series> = new Map();

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Counts the lines of a delivery of CloudWatch Logs. */
  async count(event: unknown): Promise<{ readonly lines: number; readonly faulty: number }> {
    const { store, functionOf, nowMs } = this.#parts;
    const { lines, faulty } = measuredLines(event, functionOf);
    if (lines.length > 0) await changeTotals(store, (all) => withLines(all, lines, nowMs()));
    return { lines: lines.length, faulty };
  }

  /** Writes everything once, with the time of now. */
  async write(): Promise<Written> {
    const { store, sender, nowMs } = this.#parts;
    const { view, queueDepth, unread } = await this.#read();
    const atMs = nowMs();
    let totals = NO_TOTALS;
    let starting: ReadonlySet<string> = new Set();
    await changeTotals(store, (all) => {
      totals = measured(all, view, atMs);
      const { startingPods: before, writtenAtMs } = totals;
      starting = view === undefined ? before : startingPods(view, before, writtenAtMs);
      return afterWriting(totals, atMs, starting);
    });
    const levels = this.#levels({ view, queueDepth, starting }, atMs);
    const series = [...levels, ...seriesOf(totals, atMs)].map((each) => ({
      ...each,
      labels: { ...this.#own(), ...each.labels },
    }));
    const now = new Map(series.map((each) => [seriesKey(each.name, each.labels), each]));
    const ended = [...this.#last]
      .filter(([key]) => !now.has(key))
      .map(([, { name, labels }]): WrittenSeries => {
        return { name, labels, samples: [{ atMs, value: STALE }] };
      });
    const sent = await sendSeries(sender, [...now.values(), ...ended]);
    if (sent.written > 0) this.#last = now;
    if (sent.failed > 0) {
      // Where some were written, a 0 at their time would be refused.
      await this.#countFailed(sent.failed, sent.written === 0 ? totals.fresh : []);
    }
    return { ...sent, series: now.size, ended: ended.length, unread };
  }

  /** As Prometheus would label what it scrapes from Karpenter, and the cluster. */
  #own(): SeriesLabels {
    return { cluster: this.#parts.cluster, job: 'karpenter', instance: 'joiner' };
  }

  async #read(): Promise<Looked & Pick<Written, 'unread'>> {
    const unread: string[] = [];
    const orNothing = async <Read>(read: () => Promise<Read>): Promise<Read | undefined> => {
      try {
        return await read();
      } catch (error) {
        unread.push(error instanceof Error ? error.message : String(error));
        return undefined;
      }
    };
    const { view, queueDepth } = this.#parts;
    const [seen, depth] = await Promise.all([orNothing(view), orNothing(queueDepth)]);
    return { view: seen, queueDepth: depth, unread };
  }

  #levels(
    { view, queueDepth, starting }: Looked & { readonly starting: ReadonlySet<string> },
    nowMs: number,
  ): readonly Series[] {
    const { version, perPod } = this.#parts;
    const unread = { name: 'karpenter_cluster_state_synced', labels: {}, value: 0 };
    const options = { nowMs, version, perPod, starting };
    const levels = view === undefined ? [unread] : clusterLevels(view, options);
    const queued =
      queueDepth === undefined
        ? []
        : [{ name: QUEUE_DEPTH, labels: { name: 'interrupt' }, value: queueDepth }];
    return [...levels, ...queued].map((level) => current(level, nowMs));
  }

  /** Known once the endpoint takes samples again; what was `fresh` has not been written. */
  async #countFailed(samples: number, fresh: Iterable<string>): Promise<void> {
    const { store, nowMs } = this.#parts;
    const failed: Measurement = ['joiner_remote_write_failed_samples_total', {}, samples];
    await changeTotals(store, (all) => {
      const counted = withMeasurements(all, [failed], nowMs());
      return { ...counted, fresh: new Set([...counted.fresh, ...fresh]) };
    });
  }
}

/** With how long pods took since the last writing. */
function measured(totals: Totals, view: ClusterView | undefined, atMs: number): Totals {
  const { writtenAtMs, startingPods: starting } = totals;
  if (view === undefined || writtenAtMs === undefined) return totals;
  return withMeasurements(totals, podDurations(view, starting, writtenAtMs), atMs);
}
