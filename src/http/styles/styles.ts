import type { ErrorStyle } from '../wire/error-style.ts';
import { captureStyle } from './capture-style.ts';
import { captureV1Style } from './capture-v1-style.ts';
import { evaluationStyle } from './evaluation-style.ts';
import { managementStyle } from './management-style.ts';
import type { Style } from './style.ts';

/** The style of each family of operations. */
export const STYLES: Readonly<Record<ErrorStyle, Style>> = {
  management: managementStyle,
  definitions: managementStyle,
  evaluation: evaluationStyle,
  capture: captureStyle,
  capture_v1: captureV1Style,
};
