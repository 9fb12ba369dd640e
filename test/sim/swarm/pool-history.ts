import type { NodePool } from '../../../shared/core/model/provisioning.ts';
import type { Span } from './own-rules.ts';

interface Version {
  readonly fromMs: number;
  readonly text: string;
  readonly pool: NodePool;
}

/** NodePools as they were: what was decided is carried out, whatever they say by now. */
export class PoolHistory {
  private readonly versions = new Map<string, Version[]>();

  /** After each change of an object. */
  note(pools: readonly NodePool[], nowMs: number): void {
    for (const pool of pools) {
      const known = this.versions.get(pool.name) ?? [];
      const { annotations, disruption, limits, replicas } = pool;
      const text = JSON.stringify([annotations, disruption, limits, replicas]);
      if (known.at(-1)?.text === text) continue;
      this.versions.set(pool.name, [...known, { fromMs: nowMs, text, pool }]);
    }
  }

  /** Those that it has been at some moment of the time, the newest first. */
  during(name: string | undefined, { fromMs, untilMs }: Span): readonly NodePool[] {
    const all = this.versions.get(name ?? '') ?? [];
    return all
      .filter((each, at) => {
        const next = all[at + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
        return each.fromMs <= untilMs && next >= fromMs;
      })
      .map(({ pool }) => pool)
      .toReversed();
  }
}
