import { Readable } from 'node:stream';
import {
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { PortError } from '../../ports/fault.ts';
import { allPages, type Calls } from '../calls.ts';

/** What became of an object of the memory. Told when it changes, not at each call. */
export interface MemoryCondition {
  /** An object's key, or the prefix of many. */
  readonly key: string;
  readonly reason: 'Usable' | 'Unreachable' | 'Invalid' | 'Contended';
  /** One sentence for people; empty where all is well. */
  readonly message: string;
}

export interface ObjectsParts {
  readonly s3: S3Client;
  readonly bucket: string;
  readonly calls: Calls;
  readonly report: (condition: MemoryCondition) => void;
  /** Of one call, its retry included; default 2 s: whoever acts does not wait for its memory. */
  readonly timeoutMs?: number;
}

export interface StoredObject {
  readonly body: Uint8Array;
  readonly etag: string;
}

/** Undefined: S3 did not answer; the report says why. */
export type Found = StoredObject | 'absent' | undefined;

/** `conflict`: the object is not what the condition says. `failed`: S3 did not take it. */
export type Written = { readonly etag: string } | 'conflict' | 'failed';

const TIMEOUT_MS = 2_000;
/** After a call that had no answer S3 is left alone for so long: nobody waits twice. */
const PAUSE_MS = 30_000;
/** A catalog has a few hundred kilobytes; what is larger than this is read as empty. */
const BYTES_MAX = 8 * 2 ** 20;
const NOTHING = new Uint8Array();

const ABSENT: ReadonlyMap<string, Found> = new Map([['NoSuchKey', 'absent']]);

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html */
const CONFLICTS: ReadonlyMap<string, Written> = new Map([
  ['PreconditionFailed', 'conflict'],
  ['ConditionalRequestConflict', 'conflict'],
  ['NoSuchKey', 'conflict'],
]);

/** The bucket, read and written in such a way that its absence is an answer, never an error. */
export class MemoryObjects {
  private readonly parts: ObjectsParts;
  private readonly told = new Map<string, MemoryCondition['reason']>();
  private pausedUntilMs = Number.NEGATIVE_INFINITY;
  private firstSilence: string | undefined;

  constructor(parts: ObjectsParts) {
    this.parts = parts;
  }

  /** What S3 said when it stopped answering; undefined: its last answer was one. */
  get silence(): string | undefined {
    return this.firstSilence;
  }

  nowMs(): number {
    return this.parts.calls.timing.nowMs();
  }

  /** Says what became of an object, once. */
  tell(key: string, reason: MemoryCondition['reason'], message = ''): void {
    const before = this.told.get(key) ?? 'Usable';
    if (before === reason) return;
    this.told.set(key, reason);
    this.parts.report({ key, reason, message });
  }

  async read(key: string): Promise<Found> {
    const { s3, bucket: Bucket } = this.parts;
    const outcomes = { otherwise: undefined, expected: ABSENT };
    return this.attempt<Found>(key, 's3:GetObject', outcomes, async (options) => {
      const command = new GetObjectCommand({ Bucket, Key: key });
      const { Body, ETag = '', ContentLength = 0 } = await s3.send(command, options);
      if (ContentLength <= BYTES_MAX) {
        return { body: (await Body?.transformToByteArray()) ?? NOTHING, etag: ETag };
      }
      if (Body instanceof Readable) Body.destroy();
      return { body: NOTHING, etag: ETag };
    });
  }

  /**
   * Replaces the object of that ETag; undefined: makes one where there is none. What goes wrong is
   * told about `topic`.
   */
  async write(
    key: string,
    body: Uint8Array,
    etag: string | undefined,
    topic = key,
  ): Promise<Written> {
    const { s3, bucket: Bucket } = this.parts;
    const condition = etag === undefined ? { IfNoneMatch: '*' } : { IfMatch: etag };
    const outcomes = { otherwise: 'failed', expected: CONFLICTS } as const;
    return this.attempt<Written>(topic, 's3:PutObject', outcomes, async (options) => {
      const command = new PutObjectCommand({ Bucket, Key: key, Body: body, ...condition });
      const { ETag = '' } = await s3.send(command, options);
      return { etag: ETag };
    });
  }

  /** Undefined: S3 did not answer. */
  async keys(prefix: string): Promise<readonly string[] | undefined> {
    const { s3, bucket: Bucket } = this.parts;
    const outcomes = { otherwise: undefined, expected: new Map<string, never>() };
    return this.attempt(prefix, 's3:ListBucket', outcomes, async (options) => {
      const objects = await allPages(async (token) => {
        const after = token === undefined ? {} : { ContinuationToken: token };
        const command = new ListObjectsV2Command({ Bucket, Prefix: prefix, ...after });
        const { Contents, NextContinuationToken: next } = await s3.send(command, options);
        return { items: Contents, next };
      });
      return objects.flatMap(({ Key }) => Key ?? []);
    });
  }

  private async attempt<Answer>(
    topic: string,
    action: string,
    outcomes: { readonly otherwise: Answer; readonly expected: ReadonlyMap<string, Answer> },
    work: (options: { readonly abortSignal: AbortSignal }) => Promise<Answer>,
  ): Promise<Answer> {
    if (this.nowMs() < this.pausedUntilMs) return outcomes.otherwise;
    const { calls, timeoutMs = TIMEOUT_MS } = this.parts;
    const abortSignal = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await calls.run(action, () => work({ abortSignal }));
      this.firstSilence = undefined;
      return answer;
    } catch (error) {
      const code = error instanceof PortError ? error.code : '';
      const expected = outcomes.expected.get(code);
      if (expected !== undefined) {
        this.firstSilence = undefined;
        return expected;
      }
      this.firstSilence ??= error instanceof Error ? error.message : String(error);
      const isSilent = !(error instanceof PortError) || error.kind === 'unknown';
      if (isSilent || code === 'NoSuchBucket') this.pausedUntilMs = this.nowMs() + PAUSE_MS;
      this.tell(topic, 'Unreachable', error instanceof Error ? error.message : String(error));
      return outcomes.otherwise;
    }
  }
}
