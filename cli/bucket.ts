import { s3Client } from '../shared/aws/access.ts';
import { Calls } from '../shared/aws/calls.ts';
import { CatalogFile, type KeptCatalog } from '../shared/aws/memory/catalog-file.ts';
import { S3GroupUsages } from '../shared/aws/memory/group-usages.ts';
import { MemoryObjects } from '../shared/aws/memory/objects.ts';
import { S3Memory } from '../shared/aws/memory/s3-memory.ts';
import { isEmbeddedRegion, loadCatalog } from '../shared/catalog/catalog.ts';
import type { GroupUsages, Memory } from '../shared/ports.ts';
import { callersAccess } from './aws-access.ts';

/** Of one call: a catalog has a few hundred kilobytes, and the way may be long. */
const TIMEOUT_MS = 10_000;

/** Where the functions of a stack remember what they have learnt. */
export interface BucketPlace {
  readonly bucket: string;
  readonly region: string;
  readonly cluster: string;
}

/** What a stack's bucket holds, read with the caller's credentials. */
export interface OpenBucket {
  /** Undefined: there is no catalog of the region in it, or it does not answer. */
  readonly catalog: KeptCatalog | undefined;
  /** Reads only: bars, registrations that failed, nodes of no use, memory as nodes reported it. */
  readonly memory: Pick<
    Memory,
    'unavailable' | 'unavailableSubnets' | 'failedRegistrations' | 'unusedLaunches' | 'allocatable'
  >;
  /** What clusters hold of shared limit groups. */
  readonly groupUsages: Pick<GroupUsages, 'read'>;
  /** Why the bucket does not answer; undefined: it does. */
  readonly silence: string | undefined;
  /** Documents in it that cannot be read, a line each. */
  readonly notes: readonly string[];
}

/** Opens the bucket; one that cannot be read is an answer, too. */
export async function openBucket({ bucket, region, cluster }: BucketPlace): Promise<OpenBucket> {
  const notes: string[] = [];
  const objects = new MemoryObjects({
    s3: s3Client(callersAccess(region, 'cli')),
    bucket,
    calls: new Calls(),
    report: ({ reason, message }) => {
      if (reason === 'Invalid') notes.push(message);
    },
    timeoutMs: TIMEOUT_MS,
  });
  const embedded = isEmbeddedRegion(region) ? await loadCatalog(region) : undefined;
  const catalog = await new CatalogFile(objects, { region, cluster }).newest(embedded);
  const memory = new S3Memory(objects, { region, cluster });
  const groupUsages = new S3GroupUsages(objects, region);
  return { catalog, memory, groupUsages, silence: objects.silence, notes };
}
