package iceberglite.spark.read.parquet

import java.util.{Map => JavaMap}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapred.JobConf
import org.apache.parquet.hadoop.ParquetInputFormat
import org.apache.parquet.hadoop.api.ReadSupport.ReadContext
import org.apache.parquet.hadoop.api.{InitContext, ReadSupport}
import org.apache.parquet.io.api.RecordMaterializer
import org.apache.parquet.schema.MessageType
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.parquet.ParquetReadSupport

/**
 * Tells Spark's vectorised Parquet reader which columns of a file to read. Spark's own [[ParquetReadSupport]] matches
 * by name; this one gives out what was matched by field id. Parquet makes an instance by its class name, so the
 * projection travels in the [[ReadJob]].
 */
final class IcebergReadSupport extends ReadSupport[InternalRow] {
  override def init(context: InitContext): ReadContext = context.getConfiguration match {
    case job: ReadJob => new ReadContext(job.projection.requested)
    case other => throw new IllegalStateException(s"$other says nothing of the columns to read")
  }

  /** Spark's vectorised reader makes no records. */
  override def prepareForRead(
      configuration: Configuration,
      keyValueMetadata: JavaMap[String, String],
      fileSchema: MessageType,
      context: ReadContext
  ): RecordMaterializer[InternalRow] =
    throw new UnsupportedOperationException("Rows are made of batches, not by Parquet's record reader")
}

/** The configuration of one file's reading. A [[JobConf]], because Hadoop would copy any other into one. */
final private[read] class ReadJob(base: Configuration, val projection: FileProjection) extends JobConf(base) {
  set(ParquetInputFormat.READ_SUPPORT_CLASS, classOf[IcebergReadSupport].getName)
  set(ParquetReadSupport.SPARK_ROW_REQUESTED_SCHEMA, projection.readSchema.json)
  // Ours may not be the class loader that loads Hadoop.
  setClassLoader(classOf[IcebergReadSupport].getClassLoader)
}
