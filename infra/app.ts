/** The app of the checkout: the stacks, with the rules of AWS Solutions. */
import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { deploy } from './stacks.ts';

deploy((app) => Validations.of(app).addPlugins(new AwsSolutionsChecks(app)));
