import { App, Stack } from 'aws-cdk-lib';
import { CLUSTERS_MAX, ClustersDashboard } from './constructs/clusters-dashboard.ts';
import { isJoinerProps, propFaults } from './constructs/props-check.ts';
import { isOfCdk, parts, propsFromContext } from './context.ts';
import { JoinerStack, stackNameOf } from './joiner-stack.ts';

const USAGE = `usage: cdk deploy -c cluster=NAME [-c region=REGION] [-c PROP=VALUE …]
       cdk deploy -c clusters=NAME,NAME… [-c region=REGION]    a dashboard across clusters
`;

/**
 * `cdk deploy -c cluster=NAME`: every other prop of the construct may be given the same way. The
 * names of the stacks are those of the clusters, so that one account may have many. `check` adds to
 * the app before it is synthesised.
 */
export function deploy(check: (app: App) => void = () => {}): void {
  const app = new App();
  const context: Readonly<Record<string, unknown>> = app.node.getAllContext();
  try {
    if (context['clusters'] === undefined) joinerStack(app, context);
    else clustersStack(app, context);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  check(app);
  app.synth();
}

function joinerStack(app: App, context: Readonly<Record<string, unknown>>): void {
  const props = propsFromContext(context);
  if (!isJoinerProps(props)) throw new Error(propFaults(props).join('\n  '));
  const { region } = props;
  const env = region === undefined ? {} : { env: { region } };
  // Functions that are gone drain and end nothing: a stack goes only after a second thought.
  new JoinerStack(app, stackNameOf(String(props.cluster)), {
    joiner: props,
    terminationProtection: true,
    ...env,
  });
}

function clustersStack(app: App, context: Readonly<Record<string, unknown>>): void {
  const { clusters: given, region, ...others } = context;
  const clusters = parts(String(given));
  const faults = [
    ...Object.keys(others)
      .filter((name) => !isOfCdk(name))
      .map((name) => `${name} is given, but has no meaning together with clusters`),
    ...clusterNameFaults(clusters),
    ...propFaults({ cluster: 'any', region }),
  ];
  if (faults.length > 0) throw new Error(faults.join('\n  '));
  const env = typeof region === 'string' ? { env: { region } } : {};
  const stack = new Stack(app, 'joiner-clusters', {
    description: 'Joiner: a dashboard across clusters',
    ...env,
  });
  new ClustersDashboard(stack, 'Clusters', { clusters });
}

function clusterNameFaults(clusters: readonly string[]): readonly string[] {
  if (clusters.length > CLUSTERS_MAX) {
    return [`clusters has ${clusters.length} names, but may have ${CLUSTERS_MAX} at most`];
  }
  const twice = clusters.filter((name, at) => clusters.indexOf(name) !== at);
  return [
    ...clusters.flatMap((cluster) => propFaults({ cluster })).map((each) => `clusters: ${each}`),
    ...twice.map((name) => `clusters has ${name} twice`),
  ];
}
