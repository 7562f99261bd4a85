// The view in space, for reports that need it: it stands before report.ts in their page.
import { Space } from './space';
import type {} from './report';

window.zwangSpace = Space;
