import { s3Client } from '../../../../shared/aws/access.ts';
import { Calls } from '../../../../shared/aws/calls.ts';
import { type MemoryCondition, MemoryObjects } from '../../../../shared/aws/memory/objects.ts';
import { S3Memory } from '../../../../shared/aws/memory/s3-memory.ts';
import { accessTo } from '../../../support/aws/adapter.ts';
import { BUCKET, WireCloud } from '../../../support/aws/cloud.ts';

export const REGION = 'us-east-1';

/** A process with its own client on the bucket that all processes of a test share. */
export interface Process {
  readonly objects: MemoryObjects;
  readonly memory: S3Memory;
  readonly conditions: MemoryCondition[];
}

export interface ProcessChanges {
  readonly cluster?: string;
  /** What happens before a call is sent, e.g. `PutObjectCommand`. */
  readonly before?: (command: string) => Promise<void> | void;
  readonly endpoint?: string;
  readonly timeoutMs?: number;
}

/** The bucket over the wire, a clock that only the test moves, and processes that use both. */
export class TestBucket {
  readonly cloud = new WireCloud();
  nowMs = Date.UTC(2026, 0, 1);

  process(changes: ProcessChanges = {}): Process {
    const { cluster = 'demo', before = () => {}, endpoint, timeoutMs = 2_000 } = changes;
    const conditions: MemoryCondition[] = [];
    const access = accessTo(this.cloud);
    const s3 = s3Client(endpoint === undefined ? access : { ...access, endpoint });
    s3.middlewareStack.add(
      (next, { commandName = '' }) =>
        async (args) => {
          await before(commandName);
          return next(args);
        },
      { step: 'initialize' },
    );
    const objects = new MemoryObjects({
      s3,
      bucket: BUCKET,
      calls: new Calls({ nowMs: () => this.nowMs, sleep: async () => {} }),
      report: (condition) => conditions.push(condition),
      timeoutMs,
    });
    return { objects, memory: new S3Memory(objects, { region: REGION, cluster }), conditions };
  }

  keys(): readonly string[] {
    return [...this.cloud.bucket.objects.keys()].sort();
  }

  put(key: string, body: string | Buffer): void {
    this.cloud.bucket.objects.set(key, Buffer.from(body));
  }

  text(key: string): string {
    return this.bytes(key).toString();
  }

  bytes(key: string): Buffer {
    return this.cloud.bucket.objects.get(key) ?? Buffer.of();
  }

  /** Calls of S3 so far, by operation. */
  calls(operation: string): number {
    return this.cloud.server.callsOf(operation).length;
  }
}
