import { Fn } from 'aws-cdk-lib';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { resources, synthesise } from './synthesis.ts';
import { synthesiseVariant, VARIANTS } from './variants.ts';

const defaults = synthesiseVariant('defaults');
const shut = synthesiseVariant('private');

describe('the network', () => {
  it('is that of the cluster for all but the catalog, where the endpoint is private', () => {
    for (const each of resources(shut, 'AWS::Lambda::Function').values()) {
      const isOutside = each['FunctionName'] === 'joiner-demo-catalog';
      expect(each['VpcConfig'] === undefined).toBe(isOutside);
    }
    defaults.template.allResourcesProperties('AWS::Lambda::Function', {
      VpcConfig: Match.absent(),
    });
  });

  it('may be a list that is only known when it is deployed', () => {
    const subnets = Fn.split(',', Fn.importValue('PrivateSubnets'));
    const { template } = synthesise({ ...VARIANTS.private.joiner, subnets });
    template.hasResourceProperties('AWS::Lambda::Function', {
      VpcConfig: { SubnetIds: { 'Fn::Split': [',', { 'Fn::ImportValue': 'PrivateSubnets' }] } },
    });
  });

  it('is let in to the cluster', () => {
    shut.template.hasResourceProperties('AWS::EC2::SecurityGroupIngress', {
      GroupId: 'sg-0d0d0d0d0d0d0d0d0',
      SourceSecurityGroupId: 'sg-0c0c0c0c0c0c0c0c0',
      IpProtocol: 'tcp',
      FromPort: 443,
      ToPort: 443,
    });
  });

  it('is let in by the same rules when the list of its groups changes', () => {
    const rules = (...securityGroups: readonly string[]): ReadonlyMap<string, unknown> => {
      const given = { ...VARIANTS.private.joiner, securityGroups };
      const found = resources(synthesise(given), 'AWS::EC2::SecurityGroupIngress');
      return new Map([...found].map(([id, rule]) => [id, rule['SourceSecurityGroupId']]));
    };
    const both = rules('sg-0a0a0a0a0a0a0a0a0', 'sg-0b0b0b0b0b0b0b0b0');
    const [[id, group] = []] = rules('sg-0b0b0b0b0b0b0b0b0');
    expect([both.size, both.get(String(id))]).toEqual([2, group]);
  });

  it('has each subnet and group once, however often it is given', () => {
    const { joiner } = VARIANTS.private;
    const twice = { subnets: joiner.subnets, securityGroups: joiner.securityGroups };
    const given = Object.fromEntries(
      Object.entries(twice).map(([name, list = []]) => [name, [...list, ...list]]),
    );
    const stack = synthesise({ ...joiner, ...given });
    for (const type of ['AWS::Lambda::Function', 'AWS::EC2::SecurityGroupIngress']) {
      expect(resources(stack, type)).toEqual(resources(shut, type));
    }
  });

  it('cannot be changed by the functions’ own code', () => {
    shut.template.hasResourceProperties('AWS::IAM::Role', {
      Policies: Match.arrayWith([
        Match.objectLike({
          PolicyName: 'network',
          PolicyDocument: {
            Statement: Match.arrayWith([Match.objectLike({ Effect: 'Deny', Sid: 'NotByTheCode' })]),
          },
        }),
      ]),
    });
  });
});
