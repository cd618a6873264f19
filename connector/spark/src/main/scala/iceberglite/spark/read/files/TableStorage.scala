package iceberglite.spark.read.files

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession

import iceberglite.storage.HadoopFileIO
import iceberglite.table.Table

private[iceberglite] object TableStorage {

  /** Returns the Hadoop configuration for the files of a table, with the storage settings of its catalog. */
  def configuration(table: Table, session: SparkSession): Configuration = table.io match {
    case io: HadoopFileIO => new Configuration(io.configuration)
    case _ => session.sessionState.newHadoopConf()
  }
}
