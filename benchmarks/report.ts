// `npm run bench:report`: makes README.md, the plots and the figures of the other README anew, from the results that are there.
import { writeReport } from './report/report.ts';

await writeReport();
