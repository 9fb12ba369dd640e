import { join } from 'node:path';
import { App, Stack, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { ClustersDashboard } from '../../infra/constructs/clusters-dashboard.ts';
import { resources, synthesise } from './synthesis.ts';

/** Several clusters of an account: what they share, and what is seen of them side by side. */

function dashboardOf(clusters: readonly string[]): Template {
  const app = new App({ analyticsReporting: false });
  const env = { account: '111122223333', region: 'eu-west-1' };
  const stack = new Stack(app, 'joiner-clusters', { env });
  new ClustersDashboard(stack, 'Clusters', { clusters });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
  return Template.fromStack(stack);
}

/** A text with tokens in it; what they stand for does not matter here. */
function joined(value: unknown): string {
  const parts: unknown = Object(value)['Fn::Join']?.[1] ?? [value];
  return (Array.isArray(parts) ? parts : [])
    .map((part) => (typeof part === 'string' ? part : 'token'))
    .join('');
}

describe('the dashboard across clusters', () => {
  it('passes the rules of AWS Solutions and has the template that was reviewed', async () => {
    const text = `${JSON.stringify(dashboardOf(['blue', 'green']).toJSON(), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot(join(import.meta.dirname, 'golden/clusters.json'));
  });

  it('has one line for each cluster, and the sum of all', () => {
    const [dashboard] = Object.values(
      dashboardOf(['blue', 'green', 'red']).findResources('AWS::CloudWatch::Dashboard'),
    );
    const body = JSON.parse(joined(dashboard?.['Properties']?.['DashboardBody']));
    const titles = body.widgets.map(
      (each: { readonly properties: { readonly title: string } }) => each.properties.title,
    );
    expect(titles).toContain('USD an hour, all clusters');
    expect(JSON.stringify(body)).toContain('FILL(m0, 0) + FILL(m1, 0) + FILL(m2, 0)');
    const pending = body.widgets[titles.indexOf('Pending pods')];
    expect(pending.properties.metrics).toHaveLength(3);
  });
});

const ROLE = 'arn:aws:iam::111122223333:role/EksNodes';

describe('stacks of one account', () => {
  const env = { account: '111122223333', region: 'eu-west-1' };
  const stackOf = (cluster: string) =>
    synthesise({ cluster, bucket: 'joiner-memory', nodeRole: ROLE }, { env });
  const [blue, green] = [stackOf('blue'), stackOf('green')];

  it.each([
    ['AWS::Lambda::Function', 'FunctionName'],
    ['AWS::Events::EventBus', 'Name'],
    ['AWS::SQS::Queue', 'QueueName'],
    ['AWS::Logs::LogGroup', 'LogGroupName'],
    ['AWS::CloudWatch::Dashboard', 'DashboardName'],
    ['AWS::IAM::Role', 'RoleName'],
  ])('share no name: %s %s', (type, property) => {
    const names = (of: typeof blue) =>
      [...resources(of, type).values()].flatMap((each) => each[property] ?? []);
    expect(names(blue).filter((name) => names(green).includes(name))).toEqual([]);
  });

  it('make no bucket, and see of the shared one their own folder and what is for all', () => {
    expect(resources(blue, 'AWS::S3::Bucket').size).toBe(0);
    const roles = JSON.stringify([...resources(blue, 'AWS::IAM::Role').values()]);
    expect(roles).toContain(':s3:::joiner-memory/clusters/blue/*');
    expect(roles).toContain('/shared/eu-west-1/*/blue.json');
    expect(roles).not.toContain('clusters/green');
  });
});
