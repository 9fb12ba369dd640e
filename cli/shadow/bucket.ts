import { gunzipSync } from 'node:zlib';
import type { Observation } from '../../shared/api/observation.ts';
import { atOnce } from '../../shared/app/writes/at-once.ts';
import type { AwsAccess } from '../../shared/aws/access.ts';
import { placeOf } from '../../shared/aws/memory/decision-log.ts';
import { observationFolder } from '../../shared/aws/memory/observation-log.ts';
import { BucketObjects } from '../bucket-objects.ts';
import type { Progress } from '../progress.ts';
import { observationIn } from './file.ts';

const READS_AT_ONCE = 16;

/** What a stack with `shadow` has seen, and what of it could not be read, a line each. */
export interface Recorded {
  readonly observations: readonly Observation[];
  readonly notes: readonly string[];
}

/** The observations in a stack's bucket, from this time before now on; throws where S3 refuses. */
export async function recordedObservations(
  access: AwsAccess,
  place: { readonly bucket: string; readonly cluster: string },
  sinceMs: number,
  progress: Pick<Progress, 'say'>,
): Promise<Recorded> {
  const bucket = new BucketObjects(access, place.bucket);
  const folder = observationFolder(place.cluster);
  const nowMs = bucket.objects.nowMs();
  const fromMs = nowMs - sinceMs;
  const found = await bucket.keysOfSpan(folder, fromMs, nowMs);
  const keys = found.filter((key) => key >= `${folder}${placeOf(fromMs)}`);
  const read = new Map<string, Observation | string>();
  await atOnce(READS_AT_ONCE, keys, async (key) => {
    const object = bucket.answered(await bucket.objects.read(key));
    // It has expired since it was listed.
    if (object !== 'absent') read.set(key, decoded(object.body));
    progress.say(() => `reading observations: ${read.size} of ${keys.length}`);
  });
  const inOrder = keys.flatMap((key) => {
    const each = read.get(key);
    return each === undefined ? [] : [{ key, each }];
  });
  return {
    observations: inOrder.flatMap(({ each }) => (typeof each === 'string' ? [] : [each])),
    notes: inOrder.flatMap(({ key, each }) =>
      typeof each === 'string' ? [`${key}: ${each}`] : [],
    ),
  };
}

function decoded(body: Uint8Array): Observation | string {
  try {
    return observationIn(gunzipSync(body).toString('utf8'));
  } catch (error) {
    return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}
