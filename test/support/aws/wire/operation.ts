import type { NormalizedSchema } from '@smithy/core/schema';

/** A call of a service, as the SDK describes it. */
export interface Operation {
  readonly name: string;
  readonly input: NormalizedSchema;
  readonly output: NormalizedSchema;
  /** Method, path template and status of the REST protocols. */
  readonly http: readonly [string, string, number] | undefined;
}
