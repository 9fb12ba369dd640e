import { partition } from '@aws-sdk/core/client';

/** What the S3 client asks its rules for; those of Joiner's bucket are these. */
export interface S3EndpointParameters {
  readonly Bucket?: string;
  readonly Region?: string;
  /** An address of its own, for tests and emulators: with {@link ForcePathStyle} only. */
  readonly Endpoint?: string;
  readonly ForcePathStyle?: boolean;
  readonly [other: string]: unknown;
}

export interface S3Endpoint {
  readonly url: URL;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, readonly string[]>>;
}

/** Names that can be part of a host with a certificate for one label; others go into the path. */
const LABEL = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;
/** Buckets of other kinds, by the ends of their names. */
const SPECIAL = /--(x-s3|xa-s3|op-s3|table-s3)$/;
const UNUSED = ['UseFIPS', 'UseDualStack', 'Accelerate', 'UseGlobalEndpoint'];

/**
 * The SDK's own rules know access points, Outposts, directory buckets and much more in 18 KB. A
 * plain bucket in its region needs this; a test compares the two.
 */
export function s3Endpoint(parameters: S3EndpointParameters): S3Endpoint {
  const { Bucket, Region = '', Endpoint, ForcePathStyle = false } = parameters;
  const other = UNUSED.find((each) => parameters[each] === true);
  if (other !== undefined) throw new Error(`S3 with ${other} is not part of this bundle`);
  if (Bucket === undefined || Bucket.includes(':') || SPECIAL.test(Bucket)) {
    throw new Error(`only plain buckets are part of this bundle, not ${Bucket}`);
  }
  if (Endpoint !== undefined && !ForcePathStyle) {
    throw new Error('an address of its own with buckets as hosts is not part of this bundle');
  }
  return {
    url: url(Bucket, Region, Endpoint, ForcePathStyle),
    properties: {
      authSchemes: [
        {
          disableDoubleEncoding: true,
          name: 'sigv4',
          signingName: 's3',
          signingRegion: Region,
        },
      ],
    },
    headers: {},
  };
}

function url(bucket: string, region: string, endpoint: string | undefined, isPath: boolean): URL {
  const base = new URL(endpoint ?? `https://s3.${region}.${partition(region).dnsSuffix}`);
  const below = base.pathname.replace(/\/$/, '');
  return isPath || !LABEL.test(bucket)
    ? new URL(`${base.protocol}//${base.host}${below}/${encodeURIComponent(bucket)}`)
    : new URL(`${base.protocol}//${bucket}.${base.host}`);
}
