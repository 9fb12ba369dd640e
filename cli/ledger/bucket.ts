import type { AwsAccess } from '../../shared/aws/access.ts';
import { BUCKET_LAYOUT } from '../../shared/contract.ts';
import { BucketObjects } from '../bucket-objects.ts';
import { DecisionReader } from '../decisions/reader.ts';
import { parsedRecording, type UnreadRecording, unzipped, type Written } from './files.ts';

/** A node that runs in a time was launched so long before it at most: `expireAfter` of most. */
const LIFE_MS_MAX = 30 * 86_400_000;

/** When a recording was made, by its name below the folder: `2026-01-01/10-20-30.400-…`. */
function timeOf(name: string): number | undefined {
  const [, day, hour, minute, second] =
    /^(\d{4}-\d\d-\d\d)\/(\d\d)-(\d\d)-(\d\d\.\d{3})-/.exec(name) ?? [];
  return day === undefined ? undefined : Date.parse(`${day}T${hour}:${minute}:${second}Z`);
}

/**
 * Reads what the functions of a cluster have written to the bucket since a time, and before it what
 * the nodes that run in it were launched by.
 */
export async function writtenSince(
  access: AwsAccess,
  bucket: string,
  cluster: string,
  sinceMs: number,
): Promise<Written> {
  const reader = new DecisionReader(access, bucket, cluster);
  const fromMs = sinceMs - LIFE_MS_MAX;
  const records = await reader.since(fromMs);
  const folder = `${BUCKET_LAYOUT.cluster(cluster)}${BUCKET_LAYOUT.snapshots}`;
  const reads = new BucketObjects(access, bucket);
  const keys = await reads.keysOfSpan(folder, fromMs, reader.nowMs());
  const notes = [...reader.notes];
  const recordings = keys.map(
    (key): UnreadRecording => ({
      atMs: timeOf(key.slice(folder.length)),
      read: async () => {
        const object = reads.answered(await reads.objects.read(key));
        // It has expired since it was listed.
        if (object === 'absent') return undefined;
        return parsedRecording(key, () => unzipped(object.body), notes);
      },
    }),
  );
  return { records, recordings, lastMs: 0, notes };
}
