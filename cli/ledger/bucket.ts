import type { AwsAccess } from '../../shared/aws/access.ts';
import { BUCKET_LAYOUT } from '../../shared/contract.ts';
import { BucketObjects } from '../bucket-objects.ts';
import { DecisionReader } from '../decisions/reader.ts';
import { parsedRecording, unzipped, type Written } from './files.ts';

/** Reads what the functions of a cluster have written to the bucket since a time. */
export async function writtenSince(
  access: AwsAccess,
  bucket: string,
  cluster: string,
  sinceMs: number,
): Promise<Written> {
  const reader = new DecisionReader(access, bucket, cluster);
  const records = await reader.since(sinceMs);
  const folder = `${BUCKET_LAYOUT.cluster(cluster)}${BUCKET_LAYOUT.snapshots}`;
  const reads = new BucketObjects(access, bucket);
  const keys = await reads.keysOfSpan(folder, sinceMs, reader.nowMs());
  const notes = [...reader.notes];
  return {
    records,
    count: keys.length,
    lastMs: 0,
    notes,
    recordings: async function* () {
      for (const key of keys) {
        const object = reads.answered(await reads.objects.read(key));
        // It has expired since it was listed.
        if (object === 'absent') continue;
        const found = parsedRecording(key, () => unzipped(object.body), notes);
        if (found !== undefined) yield found;
      }
    },
  };
}
