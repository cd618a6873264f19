package iceberglite.spark.rowlevel

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.sources.{BaseRelation, RelationProvider, TableScan}
import org.apache.spark.sql.types.{LongType, StructField, StructType}
import org.apache.spark.sql.{Row, SQLContext}

/** A data source that can return different rows each time it is read, like a database table that others change. */
final class ChangingSource extends RelationProvider {
  override def createRelation(context: SQLContext, parameters: Map[String, String]): BaseRelation =
    new BaseRelation with TableScan {
      override def sqlContext: SQLContext = context
      override def schema: StructType = StructType(Seq(StructField("id", LongType)))
      override def buildScan(): RDD[Row] =
        context.sparkContext.parallelize(Seq(()), 1).flatMap(_ => ChangingSource.rows().map(id => Row(id.orNull)))
    }
}

object ChangingSource {

  /** Returns the ids of the rows that a scan returns, with `None` for null. Called for each scan. */
  @volatile var rows: () => Seq[Option[Long]] = () => Nil
}
