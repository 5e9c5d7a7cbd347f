CREATE TABLE "restrictions" (
	"subject" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"created" bigint NOT NULL
);
