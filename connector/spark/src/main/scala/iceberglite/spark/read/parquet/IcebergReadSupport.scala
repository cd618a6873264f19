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
 * Tells Spark's vectorized Parquet reader which columns of a file to read. Spark's own [[ParquetReadSupport]] matches
 * columns by name, whereas this class passes on the columns that were matched by field id. Parquet creates the instance
 * from the name of this class, so the columns are passed in the [[ReadJob]].
 */
final class IcebergReadSupport extends ReadSupport[InternalRow] {
  override def init(context: InitContext): ReadContext = context.getConfiguration match {
    case job: ReadJob => new ReadContext(job.projection.requested)
    case other => throw new IllegalStateException(s"$other does not contain the columns to read")
  }

  /** Always throws, because Spark's vectorized reader creates no records. */
  override def prepareForRead(
      configuration: Configuration,
      keyValueMetadata: JavaMap[String, String],
      fileSchema: MessageType,
      context: ReadContext
  ): RecordMaterializer[InternalRow] =
    throw new UnsupportedOperationException("Rows are created from batches, not by Parquet's record reader")
}

/**
 * The configuration for reading one file. It is a [[JobConf]], because Hadoop would copy any other configuration into a
 * new [[JobConf]].
 */
final private[read] class ReadJob(base: Configuration, val projection: FileProjection) extends JobConf(base) {
  set(ParquetInputFormat.READ_SUPPORT_CLASS, classOf[IcebergReadSupport].getName)
  set(ParquetReadSupport.SPARK_ROW_REQUESTED_SCHEMA, projection.readSchema.json)
  // Hadoop looks up this class by its name, and the class loader that loaded Hadoop may not find the connector.
  setClassLoader(classOf[IcebergReadSupport].getClassLoader)
}
