import { type AwsAccess, s3Client } from '../shared/aws/access.ts';
import { Calls } from '../shared/aws/calls.ts';
import { placeOf } from '../shared/aws/memory/decision-log.ts';
import { MemoryObjects } from '../shared/aws/memory/objects.ts';

/** A person waits longer than a function does. */
const TIMEOUT_MS = 10_000;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Beginnings of the names of a span's objects, below the folder: hours of a day, else days. */
export function spanPrefixes(fromMs: number, toMs: number): readonly string[] {
  const isShort = toMs - fromMs <= DAY_MS;
  const unit = isShort ? HOUR_MS : DAY_MS;
  const first = Math.floor(fromMs / unit) * unit;
  const count = Math.floor((toMs - first) / unit) + 1;
  return Array.from({ length: count }, (_, at) => {
    const place = placeOf(first + at * unit);
    return isShort ? place.slice(0, '2026-01-01/10-'.length) : place.slice(0, '2026-01-01/'.length);
  });
}

/** A stack's bucket as commands read it: where S3 refuses, the command ends with the reason. */
export class BucketObjects {
  readonly objects: MemoryObjects;
  private readonly problems: string[] = [];

  constructor(access: AwsAccess, bucket: string) {
    this.objects = new MemoryObjects({
      s3: s3Client(access),
      bucket,
      calls: new Calls(),
      report: ({ reason, message }) => {
        if (reason !== 'Usable') this.problems.push(message);
      },
      timeoutMs: TIMEOUT_MS,
    });
  }

  /** The answer of a call of {@link objects}; throws where it has none. */
  answered<Answer>(answer: Answer | undefined): Answer {
    if (answer === undefined) throw new Error(this.problems.join('; '));
    return answer;
  }

  /**
   * Keys below a folder whose names are times of this span, and of the hour or day in which it
   * begins, in order; throws where S3 refuses.
   */
  async keysOfSpan(folder: string, fromMs: number, toMs: number): Promise<readonly string[]> {
    const keys: string[] = [];
    for (const prefix of spanPrefixes(fromMs, toMs)) {
      keys.push(...this.answered(await this.objects.keys(`${folder}${prefix}`)));
    }
    return keys.sort();
  }

  /** Throws where a call before was refused. */
  checkAnswers(): void {
    if (this.problems.length > 0) throw new Error(this.problems.join('; '));
  }
}
