import type { GroupUsages, Ports } from '../../../shared/ports.ts';
import type { Prng } from '../../../shared/sim/prng.ts';
import { withPorts } from '../../unit/app/world.ts';
import type { Invocation } from './awaits.ts';
import { type FaultySettings, moment } from './faulty-ports.ts';

/** What goes wrong with what clusters share, with the probability at one call. */
export const BUCKET_FAULTS = {
  /** A read has no answer. */
  unreadable: 0.05,
  /** A write has no answer, and was not carried out. */
  refused: 0.05,
  /** It was carried out, and the answer is lost. */
  'answer-lost': 0.08,
  /** The client has tried again after a lost answer: what it meets is its own write. */
  'own-conflict': 0.05,
  /** It is carried out only after the client has given up. */
  late: 0.05,
  /** Between what was reserved and the write of a NodeClaim the invocation stands still. */
  'write-frozen': 0.3,
  /** There it ends. */
  'write-killed': 0.1,
} as const satisfies Readonly<Record<string, number>>;

export type BucketFault = keyof typeof BUCKET_FAULTS;

export const BUCKET_FAULT_NAMES = Object.keys(BUCKET_FAULTS) as readonly BucketFault[];

const LATE_MS = [50, 20_000] as const;
const FROZEN_MS = [5_000, 40_000] as const;

export interface FaultyBucketSettings {
  readonly usages: GroupUsages;
  readonly random: Prng;
  readonly faults: readonly BucketFault[];
  readonly after: (ms: number, run: () => void) => void;
  readonly mark: (name: string) => void;
}

/** A bucket that several clusters share, and what goes wrong with it. */
export class FaultyBucket {
  private readonly settings: FaultyBucketSettings;
  private isOver = false;

  constructor(settings: FaultyBucketSettings) {
    this.settings = settings;
  }

  /** From here on nothing fails. */
  end(): void {
    this.isOver = true;
  }

  /** As one invocation has it: each call takes time, lets others go first, and may fail. */
  portsOf(ports: Ports, settings: FaultySettings, by: Invocation): Ports {
    const createNodeClaim: Ports['cluster']['createNodeClaim'] = async (claim) => {
      if (this.happens('write-killed')) by.isKilled = true;
      if (this.happens('write-frozen')) {
        by.frozenUntilMs = settings.nowMs() + this.settings.random.between(...FROZEN_MS);
      }
      return await ports.cluster.createNodeClaim(claim);
    };
    const own = withPorts(ports, { cluster: { createNodeClaim } });
    return { ...own, groupUsages: this.usagesOf(settings, by) };
  }

  private happens(name: BucketFault): boolean {
    const { random, faults, mark } = this.settings;
    const drawn = random.next() < BUCKET_FAULTS[name] && !this.isOver && faults.includes(name);
    if (drawn) mark(name);
    return drawn;
  }

  private usagesOf(settings: FaultySettings, by: Invocation): GroupUsages {
    const { usages, random, after } = this.settings;
    return {
      read: async (group) => {
        await moment(settings, by);
        const known = this.happens('unreadable') ? undefined : await usages.read(group);
        await moment(settings, by);
        return known;
      },
      write: async (group, usage, version) => {
        await moment(settings, by);
        if (this.happens('refused')) return 'failed';
        if (this.happens('late')) {
          after(random.between(...LATE_MS), () => void usages.write(group, usage, version));
          return 'failed';
        }
        const written = await usages.write(group, usage, version);
        await moment(settings, by);
        if (this.happens('answer-lost')) return 'failed';
        return this.happens('own-conflict') ? 'conflict' : written;
      },
    };
  }
}
