import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Observation } from '../../api/observation.ts';
import { BUCKET_LAYOUT } from '../../contract.ts';
import { placeOf } from './decision-log.ts';
import type { MemoryObjects } from './objects.ts';

const compress = promisify(gzip);

/** Where the observations of a cluster are. */
export function observationFolder(cluster: string): string {
  return `${BUCKET_LAYOUT.cluster(cluster)}${BUCKET_LAYOUT.observations}`;
}

/** Observations beside Karpenter, an object of compressed JSON each below the cluster's folder. */
export class ObservationLog {
  private readonly objects: Pick<MemoryObjects, 'write' | 'silence'>;
  private readonly folder: string;

  constructor(objects: Pick<MemoryObjects, 'write' | 'silence'>, cluster: string) {
    this.objects = objects;
    this.folder = observationFolder(cluster);
  }

  /** The bytes that were written; rejects where S3 does not take them. */
  async write(observation: Observation): Promise<number> {
    const body = await compress(JSON.stringify(observation));
    const key = `${this.folder}${placeOf(Date.parse(observation.at))}.json.gz`;
    const written = await this.objects.write(key, body, undefined, this.folder);
    if (written === 'failed') {
      const { silence = 'S3 does not answer' } = this.objects;
      throw new Error(`the observation was not written to the bucket: ${silence}`);
    }
    return body.length;
  }
}
