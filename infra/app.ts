import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { JoinerProps } from './constructs/joiner-props.ts';
import { propFaults } from './constructs/props-check.ts';
import { propsFromContext } from './context.ts';
import { JoinerStack } from './joiner-stack.ts';

/** `cdk deploy -c cluster=NAME`: every other prop of the construct may be given the same way. */
function main(): void {
  const app = new App();
  const props = propsFromContext((name) => app.node.tryGetContext(name));
  if (!isJoinerProps(props)) {
    const faults = propFaults(props).map((fault) => `  ${fault}`);
    const usage = 'usage: cdk deploy -c cluster=NAME [-c region=REGION] [-c PROP=VALUE …]';
    process.stderr.write(`${usage}\n${faults.join('\n')}\n`);
    process.exitCode = 2;
    return;
  }
  const { region } = props;
  new JoinerStack(app, `joiner-${String(props.cluster).replaceAll('_', '-')}`, {
    joiner: props,
    ...(region === undefined ? {} : { env: { region } }),
  });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
}

function isJoinerProps(props: object): props is JoinerProps {
  return propFaults(props).length === 0;
}

main();
