package iceberglite.tree.manifestlist

import iceberglite.spec.file.{Content, ManifestEntry}

/** Assigns first row ids to the files of a manifest, in the order of its entries (spec version 3: "Row lineage"). */
final private[iceberglite] class RowIdAssigner(first: Option[Long]) {
  private var next = first

  def assign(e: ManifestEntry): ManifestEntry = {
    val id = firstRowId(e.file.content == Content.Data && e.isLive, e.file.firstRowId, e.file.recordCount)
    if (id == e.file.firstRowId) e else e.copy(file = e.file.copy(firstRowId = id))
  }

  /**
   * Returns the first row id of the next file.
   *
   * @param isLiveData whether it is a live data file; other files do not get a row id
   * @param own its first row id in its entry
   */
  def firstRowId(isLiveData: Boolean, own: Option[Long], rows: Long): Option[Long] =
    if (!isLiveData || own.isDefined || rows < 0) own
    else {
      val id = next
      next = next.map(_ + rows)
      id
    }
}
