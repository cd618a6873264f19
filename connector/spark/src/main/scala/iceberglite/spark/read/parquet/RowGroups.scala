package iceberglite.spark.read.parquet

import java.util.ArrayList

import org.apache.parquet.hadoop.metadata.{BlockMetaData, ParquetMetadata}

import iceberglite.io.puffin.DeletionVector

/** Which parts of a file need not be read. */
private[parquet] object RowGroups {

  /** A footer without the row groups in which none of some rows is. @param rows by their places in the file */
  def holding(footer: ParquetMetadata, rows: DeletionVector): ParquetMetadata = {
    val blocks = new ArrayList[BlockMetaData]
    footer.getBlocks.forEach(block => if (mayHold(block, rows)) { blocks.add(block); () })
    new ParquetMetadata(footer.getFileMetaData, blocks)
  }

  private def mayHold(block: BlockMetaData, rows: DeletionVector): Boolean = {
    val first = block.getRowIndexOffset
    var found = first < 0
    rows.foreachIn(first, first + block.getRowCount)(_ => found = true)
    found
  }
}
