import type { Command } from 'commander';
import type { Problems } from './bad-input.ts';
import { givenRegion } from './stack-bucket.ts';

/** Where decision records and recordings are read from. */
export interface PlaceOptions {
  readonly dir?: string;
  readonly cluster?: string;
  readonly region?: string;
  readonly bucket?: string;
}

/** A folder, or the bucket of a cluster. */
export type Place =
  | { readonly dir: string }
  | { readonly dir: undefined; readonly cluster: string; readonly region: string };

/** The command with {@link PlaceOptions}. */
export function withPlace(command: Command): Command {
  return command
    .option('--dir <folder>', "of simulate --record, or a copy of the cluster's in the bucket")
    .option('--cluster <name>', 'the EKS cluster, whose bucket is read')
    .option('--region <region>', "the cluster's region; default: AWS_REGION")
    .option('--bucket <name>', "the stack's bucket; default: read from the stack's functions");
}

/** A `BadInput`, with the problems that there are, where options name both, or none. */
export function placeOf(options: PlaceOptions, problems: Problems): Place {
  const { dir, cluster } = options;
  if (dir !== undefined) {
    for (const name of ['cluster', 'region', 'bucket'] as const) {
      if (options[name] !== undefined) problems.add(`--${name}: give either --dir or a cluster`);
    }
    return { dir: problems.checked(dir) };
  }
  const region = givenRegion(options.region);
  if (cluster === undefined) problems.add('give --dir or --cluster');
  else if (region === undefined) problems.add('give --region, or set AWS_REGION');
  return { dir, cluster: problems.checked(cluster), region: problems.checked(region) };
}
