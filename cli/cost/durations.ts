/** Seconds of one run at the default memory: `base + perNode × nodes + perPod × pods`. */
export interface RunSeconds {
  readonly base: number;
  readonly perNode: number;
  readonly perPod: number;
}

/** What runs take and do; everything that is measured or estimated, and nothing that is priced. */
export interface Durations {
  /** A run that finds nothing to do, in a sandbox that is warm. */
  readonly idle: Readonly<
    Record<
      'provision' | 'lifecycle' | 'disrupt' | 'nodeclass' | 'spotPrices' | 'catalog',
      RunSeconds
    >
  >;
  /** `provision`, for each launch: collecting the batch, planning, the fleet request. */
  readonly provisionLaunch: number;
  /** `lifecycle` stays while a node joins, and again while it is drained and terminated. */
  readonly lifecycleLaunch: number;
  readonly lifecycleTermination: number;
  /** `interrupt`, for each message. */
  readonly interruptMessage: number;
  /** A run that finds its Lease held and leaves. */
  readonly leaseHeld: number;
  /** How long the `watch` that takes over waits for the one before it, which holds for minutes. */
  readonly watchWait: number;
  /** A `watch` that comes before that looks at the Lease and leaves. */
  readonly watchLeaves: number;
  /** Messages about one instance: shutting down, terminated, and warnings of spot. */
  readonly messagesPerNode: number;
  /** Wake-ups for one node that comes and goes: claims, nodes and pods change, joined by the second. */
  readonly wakeUpsPerNode: number;
  /** What the lists of a new `watch` find counts as a change once. */
  readonly wakeUpsPerWatch: number;
  /** Seconds that one `watch` holds its watches. */
  readonly watchHold: number;
  /** Of one run, with the metrics in it. */
  readonly logBytesPerRun: number;
  /** Of one decision with its reasons. */
  readonly logBytesPerLaunch: number;
  /** Calls of S3 in one run of `provision` or `disrupt`. */
  readonly bucketReadsPerRun: number;
  readonly bucketListsPerRun: number;
  /** Calls with which Lambda asks the queue for messages, whether there are any or not. */
  readonly queueCallsPerMinute: number;
  /** `interrupt`, for ten messages about instances of others. */
  readonly foreignBatch: number;
  /** Decisions about one node that comes and goes. */
  readonly decisionsPerNode: number;
  /** How long the bucket keeps them. */
  readonly decisionsKeptMonths: number;
  /** Of all functions while nothing happens, and for one node that comes and goes. */
  readonly apiRequestsPerMinute: number;
  readonly apiRequestsPerNode: number;
  /** Of one request in the API server's audit log. */
  readonly auditBytesPerRequest: number;
}

const fixed = (base: number): RunSeconds => ({ base, perNode: 0, perPod: 0 });

/**
 * Idle runs are those of bench/idle.md, on whole processors of a development machine, with AWS on
 * loopback; added to them are AWS's own answers, about 50 ms a call, and the CPU that a smaller
 * function takes longer for. All else is estimated. The dashboard's last row computes the same
 * formula from what Lambda has billed.
 */
export const DURATIONS: Durations = {
  idle: {
    // 0.52 s, and 0.31 s more with 20,000 pods; four calls of S3 at once.
    provision: { base: 0.6, perNode: 0, perPod: 0.000_016 },
    // 0.28 s, and 0.14 s more with 1,000 nodes; one call of EC2, 58 % of a processor.
    lifecycle: { base: 0.35, perNode: 0.000_2, perPod: 0 },
    // It reads as provision does, and plans only for nodes that have drifted.
    disrupt: { base: 0.6, perNode: 0, perPod: 0.000_016 },
    // 0.27 s, and 0.25 s more with 1,000 nodes; four calls, 29 % of a processor.
    nodeclass: { base: 0.6, perNode: 0.000_4, perPod: 0 },
    spotPrices: fixed(10),
    catalog: fixed(60),
  },
  provisionLaunch: 4,
  lifecycleLaunch: 60,
  lifecycleTermination: 30,
  interruptMessage: 0.5,
  leaseHeld: 0.1,
  watchWait: 50,
  watchLeaves: 0.2,
  messagesPerNode: 3,
  wakeUpsPerNode: 25,
  wakeUpsPerWatch: 6,
  watchHold: 780,
  logBytesPerRun: 4_000,
  logBytesPerLaunch: 5_000,
  // Counted over the wire: three reads and a list in a run of provision, none in one of lifecycle.
  bucketReadsPerRun: 3,
  bucketListsPerRun: 1,
  // Five long polls of 20 s at a time. https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
  queueCallsPerMinute: 15,
  foreignBatch: 0.02,
  decisionsPerNode: 4,
  decisionsKeptMonths: 1,
  // Counted by `npm run bench -- requests`.
  apiRequestsPerMinute: 85,
  apiRequestsPerNode: 600,
  // Metadata of a request and its answer, as EKS's audit policy has most of ours.
  auditBytesPerRequest: 1_300,
};
