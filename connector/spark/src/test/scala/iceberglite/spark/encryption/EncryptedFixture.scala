package iceberglite.spark.encryption

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.scalatest.Suite

import iceberglite.spark.SharedSession

/** A suite that runs its statements in the [[EncryptedSession]], with a namespace in the catalog `enc`. */
trait EncryptedFixture extends SharedSession { self: Suite =>
  protected lazy val session: SparkSession = EncryptedSession.session

  override protected def sql(statement: String): DataFrame = session.sql(statement)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    sql(s"CREATE NAMESPACE IF NOT EXISTS enc.$ns")
  }
}
