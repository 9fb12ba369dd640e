import type { FunctionName } from '../../shared/contract.ts';

/** What the ARNs and conditions of a policy are made of. Values may be tokens of CDK. */
export interface PolicyScope {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  /** `amazonaws.com`, `amazonaws.com.cn` */
  readonly dnsSuffix: string;
  /** Never a token: it is part of condition keys. */
  readonly cluster: string;
  readonly clusterArn: string;
  readonly bucketArn: string;
  /** Names of the limit groups that the cluster shares with others. */
  readonly sharedGroups: readonly string[];
  /** The stack made the bucket, so its installer may empty it. */
  readonly isBucketOwned: boolean;
  /** Of the key that encrypts the bucket. */
  readonly keyArn: string | undefined;
  readonly eventBusArn: string;
  readonly queueArn: string;
  /** Of the key that encrypts the queue. */
  readonly queueKeyArn: string | undefined;
  /** Roles that nodes may have. */
  readonly nodeRoleArns: readonly string[];
  /** ARNs of SSM parameters of one's own that hold images. */
  readonly imageParameterArns: readonly string[];
  /** Of the installer itself. */
  readonly installRoleName: string;
  /** No call of IAM, so no permission for it. */
  readonly isIsolated: boolean;
  /** Undefined: nothing is written to Prometheus. */
  readonly remoteWrite: RemoteWriteScope | undefined;
}

/** What writing to Prometheus needs in AWS: a workspace, or a secret, or nothing. */
export type RemoteWriteScope =
  | { readonly workspaceArn?: string; readonly secretArn?: undefined }
  | {
      readonly workspaceArn?: undefined;
      readonly secretArn: string;
      /** The parameter by which SSM hands it out. */
      readonly parameter: string;
    };

export type Conditions = Readonly<
  Record<string, Readonly<Record<string, string | readonly string[]>>>
>;

/** One statement that allows. Data, so that a test can compare it with the calls really made. */
export interface Statement {
  /** Unique in its policy; letters and digits. */
  readonly sid: string;
  /** One sentence for the documentation: why the function needs it. */
  readonly why: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly conditions?: Conditions;
}

export type Policy = (scope: PolicyScope) => readonly Statement[];

export type Policies = Readonly<Record<FunctionName, Policy>>;
