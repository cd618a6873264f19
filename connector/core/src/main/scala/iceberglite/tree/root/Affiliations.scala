package iceberglite.tree.root

import iceberglite.spec.file.FileFormat

/**
 * Finds the delete manifests that apply only to the files of one data manifest, so that a scan that does not read the
 * data manifest can omit them.
 *
 * @param leaves the live entries of manifests in a root
 */
final private[root] class Affiliations(leaves: Vector[ContentEntry], columns: StatsColumns) {
  private val specs =
    leaves.iterator.filter(_.content == EntryContent.DataManifest).map(e => e.location -> e.specId).toMap
  private lazy val partitionColumns = columns.ofPartitions.byId.keySet

  /**
   * Returns the path of the data manifest to which a delete manifest is affiliated. A root of another writer may
   * contradict itself. In doubt, the result is absent, so that every scan reads the delete manifest:
   *   - The root does not list the data manifest, which another writer may have replaced without the affiliation.
   *   - The partition specs of the two manifests differ, but a deletion vector has the spec of its data file.
   *   - The delete manifest is an Avro file. Only an earlier version, which has no affiliation, writes it.
   *   - The delete manifest has statistics of columns that are no partition columns. It probably lists equality
   *     deletes, which apply to the files of all data manifests. Deletion vectors have no such statistics.
   */
  def dataManifest(e: ContentEntry): Option[String] =
    if (e.content != EntryContent.DeleteManifest || e.format == FileFormat.Avro) None
    else e.referencedFile.filter(path =>
      specs.get(path).contains(e.specId) && e.stats.byId.keys.forall(partitionColumns)
    )
}
