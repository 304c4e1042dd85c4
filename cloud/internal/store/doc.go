// Package store keeps a run's input, intermediate and final results in an object store or a shared folder, so that
// attempts can be anywhere. The stores are those of gocloud.dev/blob: s3:// and what speaks its protocol, and file://.
// Attempts themselves are somebody else's: pods, or processes of this machine (Local).
//
// A store cannot rename. So every attempt writes objects below a prefix of its own, and nothing of it is moved.
// The journal's claim says which attempt has won a task. When all tasks of a stage have a winner, one object names
// them, the stage's manifest, and readers of the stage's results follow it. In the end the last stage's
// objects are copied to where users look for them, inside the store, then the manifest of the result is written,
// and _SUCCESS, which lists the parts, last. An attempt that is cut off, and thought dead, can go on writing for
// as long as it likes: nobody reads what it writes. The objects of a run, below its output:
//
//	_tailcut/run                     whose output this is: see Claim
//	_tailcut/RUN/work                what attempts do, as jobfile.Work
//	_tailcut/RUN/attempts/S-T.N/     of attempt N of task T of stage S: segments or a part; stdout and files/ of an array task
//	_tailcut/RUN/sums/S-T.N          hashes of what it put there, if that is to be published
//	_tailcut/RUN/done/S              the manifest of stage S
//	_tailcut/RUN/manifest            what is to be published, until it is
//	part-00000 ...                   the result
//	_MANIFEST.json                   what the result consists of, as mapreduce.Manifest
//	_SUCCESS                         lists the parts
//
// Below _tailcut/ all but the first is removed when the job has succeeded, _tailcut/RUN/work before the rest is
// listed. An attempt that finds it gone after its last object removes what it wrote. So nothing of a late attempt
// stays, unless it is killed between the two, or a store cannot be reached then.
package store
