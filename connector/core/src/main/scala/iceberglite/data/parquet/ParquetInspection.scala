package iceberglite.data.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{FileMetaData, ParquetMetadata}

import iceberglite.data.{DataSource, FileFaults, ImportedColumns, WrittenFile}
import iceberglite.data.parquet.shred.VariantMetrics
import iceberglite.metrics.MetricsModes
import iceberglite.parquet.{ParquetEncryption, ParquetInput}
import iceberglite.parquet.ParquetShapes.{childrenOf, idOf}
import iceberglite.spec.file.FileFormat
import iceberglite.spec.schema.Schema

/** Derives the metadata of a Parquet file from its footer. */
private[parquet] object ParquetInspection {
  def inspect(source: DataSource, schema: Schema, modes: MetricsModes): WrittenFile =
    FileFaults.wrapReadErrors(source.path) {
      val footer = readFooter(source)
      val file = footer.getFileMetaData
      FileReadPlan.of(file.getSchema, source, schema.asStruct)
      val withIds = ParquetNameMapping.withIds(file.getSchema, source.nameMapping, schema.asStruct)
      ImportedColumns.check(source, childrenOf(withIds).map(c => c.getName -> idOf(c)), schema)
      val described = new FileMetaData(withIds, file.getKeyValueMetaData, file.getCreatedBy)
      val found = VariantMetrics.of(new ParquetMetadata(described, footer.getBlocks), schema, modes)
      WrittenFile(
        source.path,
        FileFormat.Parquet,
        found.recordCount,
        source.length,
        found.metrics,
        found.splitOffsets
      )
    }

  private def readFooter(source: DataSource): ParquetMetadata = {
    val file = ParquetInput.of(source.io, source.path, source.key)
    val options = ParquetEncryption.withKey(ParquetReadOptions.builder(), source.key).build()
    val reader = ParquetFileReader.open(file, options)
    try {
      val footer = reader.getFooter
      footer.getBlocks.asScala.foreach(GuardedPages.check(_, file.getLength))
      footer
    } finally reader.close()
  }
}
