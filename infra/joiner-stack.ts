import { createHash } from 'node:crypto';
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Joiner } from './constructs/joiner.ts';
import type { JoinerProps } from './constructs/joiner-props.ts';
import { OUTPUT_NAMES } from './constructs/outputs.ts';

export interface JoinerStackProps extends StackProps {
  readonly joiner: JoinerProps;
}

/**
 * The name of a cluster's stack: a cluster's name may have underscores, that of a stack none. The
 * checksum keeps the stacks of `a_b` and `a-b` apart; infra/terraform/main.tf has the same rule.
 */
export function stackNameOf(cluster: string): string {
  const hyphened = cluster.replaceAll('_', '-');
  if (hyphened === cluster) return `joiner-${cluster}`;
  const checksum = createHash('sha256').update(cluster).digest('hex').slice(0, 8);
  return `joiner-${hyphened}-${checksum}`;
}

/** One stack for one cluster. */
export class JoinerStack extends Stack {
  readonly joiner: Joiner;

  constructor(scope: Construct, id: string, props: JoinerStackProps) {
    super(scope, id, { description: 'Joiner: serverless nodes for an EKS cluster', ...props });
    this.joiner = new Joiner(this, 'Joiner', props.joiner);
    // With one Joiner in a stack, the outputs can have the names that people look for.
    for (const name of OUTPUT_NAMES) {
      const output = this.joiner.node.tryFindChild(name);
      if (output instanceof CfnOutput) output.overrideLogicalId(name);
    }
  }
}
