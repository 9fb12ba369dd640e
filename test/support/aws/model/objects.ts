import { createHash } from 'node:crypto';
import { WireFault } from '../wire/response.ts';
import type { Handlers } from '../wire/server.ts';
import { handle } from './handle.ts';

interface Request {
  readonly Bucket: string;
  readonly Key: string;
  readonly Body?: Uint8Array;
  readonly IfMatch?: string;
  readonly IfNoneMatch?: string;
}

interface ListRequest {
  readonly Bucket: string;
  readonly Prefix?: string;
  readonly ContinuationToken?: string;
}

interface DeleteRequest {
  readonly Bucket: string;
  readonly Delete: { readonly Objects: readonly { readonly Key: string }[] };
}

const PAGE = 1000;

/**
 * One bucket with conditional writes.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
 */
export class ObjectModel {
  readonly objects = new Map<string, Buffer>();
  private readonly bucket: string;

  constructor(bucket: string) {
    this.bucket = bucket;
  }

  private etag(key: string): string | undefined {
    const body = this.objects.get(key);
    return body === undefined ? undefined : `"${createHash('md5').update(body).digest('hex')}"`;
  }

  private check(bucket: string): void {
    if (bucket === this.bucket) return;
    throw new WireFault('NoSuchBucket', 'The specified bucket does not exist', 404);
  }

  private put({ Bucket, Key, Body, IfMatch, IfNoneMatch }: Request) {
    this.check(Bucket);
    const before = this.etag(Key);
    if (IfMatch !== undefined && before === undefined) {
      throw new WireFault('NoSuchKey', 'The specified key does not exist.', 404);
    }
    const isStale = IfMatch !== undefined && IfMatch !== before;
    if (isStale || (IfNoneMatch === '*' && before !== undefined)) {
      const message = 'At least one of the pre-conditions you specified did not hold';
      throw new WireFault('PreconditionFailed', message, 412);
    }
    this.objects.set(Key, Buffer.from(Body ?? []));
    return { ETag: this.etag(Key) };
  }

  private get({ Bucket, Key }: Request) {
    this.check(Bucket);
    const body = this.objects.get(Key);
    if (body === undefined) {
      throw new WireFault('NoSuchKey', 'The specified key does not exist.', 404);
    }
    return { Body: body, ETag: this.etag(Key), ContentLength: body.length };
  }

  private list({ Bucket, Prefix = '', ContinuationToken }: ListRequest) {
    this.check(Bucket);
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(Prefix)).sort();
    const start = Number(ContinuationToken ?? 0);
    const end = start + PAGE;
    const isTruncated = end < keys.length;
    return {
      Contents: keys.slice(start, end).map((Key) => ({ Key, ETag: this.etag(Key) })),
      IsTruncated: isTruncated,
      NextContinuationToken: isTruncated ? String(end) : undefined,
    };
  }

  handlers(): Handlers {
    return {
      PutObject: handle<Request, object>((request) => this.put(request)),
      GetObject: handle<Request, object>((request) => this.get(request)),
      ListObjectsV2: handle<ListRequest, object>((request) => this.list(request)),
      DeleteObject: handle<Request, object>(({ Bucket, Key }) => {
        this.check(Bucket);
        this.objects.delete(Key);
        return {};
      }),
      DeleteObjects: handle<DeleteRequest, object>(({ Bucket, Delete }) => {
        this.check(Bucket);
        for (const { Key } of Delete.Objects) this.objects.delete(Key);
        return {};
      }),
    };
  }
}
