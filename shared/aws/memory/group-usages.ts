import * as z from 'zod';
import { BUCKET_LAYOUT } from '../../contract.ts';
import type { ClusterUsage, GroupUsage } from '../../core/limit-groups/group-usage.ts';
import { PRICE } from '../../core/model/labels.ts';
import { CPU, MEMORY, type Resources } from '../../core/model/resources.ts';
import { parsedJson } from '../../core/parsed-json.ts';
import type { GroupUsages, KnownUsage } from '../../ports.ts';
import type { MemoryObjects } from './objects.ts';

const amount = z.number().nonnegative();

/** In units that people can tell from the name. */
const amounts = z
  .strictObject({
    nodes: amount,
    cpuMilli: amount,
    memoryBytes: amount,
    priceMillionths: amount,
  })
  .partial();

const row = z.object({
  used: amounts,
  pending: z.array(z.object({ name: z.string().min(1), takes: amounts, untilMs: z.number() })),
  caps: z.string(),
});

const document = z.object({ version: z.literal(1), clusters: z.record(z.string(), row) });

type Amounts = z.infer<typeof amounts>;

function resourcesOf(read: Amounts): Resources {
  const named = [
    ['nodes', read.nodes],
    [CPU, read.cpuMilli],
    [MEMORY, read.memoryBytes],
    [PRICE, read.priceMillionths],
  ] as const;
  const known = named.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return Object.fromEntries(known);
}

function amountsOf(resources: Resources): Amounts {
  const { nodes, [CPU]: cpuMilli, [MEMORY]: memoryBytes, [PRICE]: priceMillionths } = resources;
  return { nodes, cpuMilli, memoryBytes, priceMillionths };
}

function usageOf({ used, pending, caps }: z.infer<typeof row>): ClusterUsage {
  const claims = pending.map(({ takes, ...each }) => ({ ...each, takes: resourcesOf(takes) }));
  return { used: resourcesOf(used), pending: claims, caps };
}

function encoded(usage: GroupUsage): Uint8Array {
  const clusters = [...usage].map(([cluster, { used, pending, caps }]) => {
    const claims = pending.map(({ takes, ...each }) => ({ ...each, takes: amountsOf(takes) }));
    return [cluster, { used: amountsOf(used), pending: claims, caps }] as const;
  });
  const json = { version: 1, clusters: Object.fromEntries(clusters) };
  return new TextEncoder().encode(JSON.stringify(json));
}

/**
 * What clusters hold of shared limit groups, an object of the bucket for each group. Where it
 * cannot be read, or is no such document, nobody can say what others hold.
 */
export class S3GroupUsages implements GroupUsages {
  private readonly objects: Pick<MemoryObjects, 'read' | 'write' | 'tell'>;
  private readonly region: string;

  constructor(objects: Pick<MemoryObjects, 'read' | 'write' | 'tell'>, region: string) {
    this.objects = objects;
    this.region = region;
  }

  async read(group: string): Promise<KnownUsage | undefined> {
    const key = BUCKET_LAYOUT.limitGroup(this.region, group);
    const found = await this.objects.read(key);
    if (found === undefined) return undefined;
    if (found === 'absent') {
      this.objects.tell(key, 'Usable');
      return { usage: new Map(), version: undefined };
    }
    const { data } = document.safeParse(parsedJson(new TextDecoder().decode(found.body)));
    if (data === undefined) {
      this.objects.tell(key, 'Invalid', `${key} does not say what clusters hold of a limit group`);
      return undefined;
    }
    this.objects.tell(key, 'Usable');
    const rows = Object.entries(data.clusters).map(([cluster, each]) => {
      return [cluster, usageOf(each)] as const;
    });
    return { usage: new Map(rows.sort(([a], [b]) => (a < b ? -1 : 1))), version: found.etag };
  }

  async write(
    group: string,
    usage: GroupUsage,
    version: string | undefined,
  ): ReturnType<GroupUsages['write']> {
    const key = BUCKET_LAYOUT.limitGroup(this.region, group);
    const written = await this.objects.write(key, encoded(usage), version);
    return typeof written === 'string' ? written : { version: written.etag };
  }
}
