import * as z from 'zod';

/** What is read of the answers that `recording.ts` writes; another version may write more. */
const plannedSchema = z.looseObject({
  nodePool: z.string(),
  chosen: z.looseObject({
    type: z.string(),
    zone: z.string(),
    capacityType: z.string(),
    listPrice: z.number(),
  }),
  pods: z.array(z.string()),
  expectedPods: z.number().optional(),
});

const planSchema = z.looseObject({
  newNodeClaims: z.array(plannedSchema),
  existing: z.array(z.looseObject({ pods: z.array(z.string()) })),
});

const movesSchema = z.looseObject({
  moves: z.array(
    z.looseObject({ nodes: z.array(z.string()), replacements: z.array(plannedSchema) }),
  ),
});

/** A node of a plan, recorded or made now. */
export interface Planned {
  readonly nodePool: string;
  readonly chosen: {
    readonly type: string;
    readonly zone: string;
    readonly capacityType: string;
    /** USD an hour. */
    readonly listPrice: number;
  };
  /** `namespace/name`. */
  readonly pods: readonly string[];
  /** Further pods that it is large enough for. */
  readonly expectedPods?: number | undefined;
}

/** A plan, recorded or made now. */
export interface PlanAnswer {
  readonly newNodeClaims: readonly Planned[];
  readonly existing: readonly { readonly pods: readonly string[] }[];
}

/** A move, recorded or found now. */
export interface Move {
  /** Names of nodes. */
  readonly nodes: readonly string[];
  readonly replacements: readonly Planned[];
}

/** The plan in a recording of `provision`; throws where there is none. */
export function recordedPlan(answer: unknown): PlanAnswer {
  return planSchema.parse(answer);
}

/** The moves in a recording of `disrupt`; throws where there are none. */
export function recordedMoves(answer: unknown): readonly Move[] {
  return movesSchema.parse(answer).moves;
}
