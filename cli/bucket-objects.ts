import { type AwsAccess, s3Client } from '../shared/aws/access.ts';
import { Calls } from '../shared/aws/calls.ts';
import { MemoryObjects } from '../shared/aws/memory/objects.ts';

/** A person waits longer than a function does. */
const TIMEOUT_MS = 10_000;

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

  /** Throws where a call before was refused. */
  checkAnswers(): void {
    if (this.problems.length > 0) throw new Error(this.problems.join('; '));
  }
}
