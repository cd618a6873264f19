package iceberglite.spark.read.parquet

import java.util.ArrayList

import org.apache.parquet.hadoop.metadata.{BlockMetaData, ParquetMetadata}

import iceberglite.puffin.DeletionVector

/** Selects the row groups of a file that must be read. */
private[parquet] object RowGroups {

  /**
   * Returns the footer with only the row groups that contain at least one of the given rows. A row group is kept if the
   * footer does not state its position.
   *
   * @param rows the positions of the rows in the file
   */
  def containing(footer: ParquetMetadata, rows: DeletionVector): ParquetMetadata = {
    val blocks = new ArrayList[BlockMetaData]
    footer.getBlocks.forEach(block => if (mayContain(block, rows)) { blocks.add(block); () })
    new ParquetMetadata(footer.getFileMetaData, blocks)
  }

  private def mayContain(block: BlockMetaData, rows: DeletionVector): Boolean = {
    val first = block.getRowIndexOffset
    var hasRow = first < 0
    rows.foreachIn(first, first + block.getRowCount)(_ => hasRow = true)
    hasRow
  }
}
